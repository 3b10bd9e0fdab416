import { contentOfDocument } from "../../adapters/dynamodb/documents.ts";
import type { OverflowBucket } from "../../adapters/s3/overflow-bucket.ts";
import { jsonText } from "../../domain/event/json-text.ts";
import { plainJson } from "../../domain/fetch/answer.ts";
import type { DocumentPlace } from "../../domain/fetch/document.ts";
import { withContent } from "../../domain/message/inline-content.ts";
import type { Message } from "../../domain/message/message-schemas.ts";

/** A message on its way; `index` says what it belongs to, `place` where the data lies that it reports. */
export type Published = {
  readonly index: number;
  readonly message: Message;
  readonly place?: DocumentPlace | undefined;
};

/** A message as JSON, with the document that it reports where that fits. */
export type InlineText = (published: Pick<Published, "message" | "place">) => Promise<string>;

/**
 * Writes documents into the messages that report them. What does not fit, or can't be read at this moment, is referred to.
 * @param limit bytes of a whole message
 */
export function inlineDocuments(limit: number, overflow: Pick<OverflowBucket, "get">): InlineText {
  return async ({ message, place }) => {
    const byReference = jsonText(message);
    const document = message.type === "data.updated" ? message.data.document : undefined;
    if (document === undefined || place === undefined || document.size > limit) return byReference;
    // In a message text is UTF-8, and would not be the bytes that the provider gave.
    if (document.contentType !== plainJson) return byReference;
    const text = await textOf({ document: { digest: document.sha256 }, place }, overflow);
    const whole = text === undefined ? undefined : withContent(message, text);
    return whole === undefined || Buffer.byteLength(whole) > limit ? byReference : whole;
  };
}

async function textOf(
  stored: Parameters<typeof contentOfDocument>[0],
  overflow: Pick<OverflowBucket, "get">,
): Promise<string | undefined> {
  try {
    const content = await contentOfDocument(stored, overflow);
    return content && Buffer.concat(content.parts).toString("utf8");
  } catch {
    return undefined;
  }
}
