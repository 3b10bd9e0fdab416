import { contentOfDocument } from "../../adapters/dynamodb/documents.ts";
import type { OverflowBucket } from "../../adapters/s3/overflow-bucket.ts";
import { permanent } from "../../domain/core/failures.ts";
import { jsonText } from "../../domain/event/json-text.ts";
import { plainJson } from "../../domain/fetch/answer.ts";
import type { DocumentStorage } from "../../domain/fetch/document.ts";
import { withContent } from "../../domain/message/inline-content.ts";
import type { Message } from "../../domain/message/message-schemas.ts";

/** A message to publish, with the index of its record in the batch and where its document is stored. */
export type Published = {
  readonly index: number;
  readonly message: Message;
  readonly storage?: DocumentStorage | undefined;
};

/**
 * Writes documents into the messages that report them. A document that doesn't fit, or can't be read now, is
 * only referenced.
 * @param limit maximum bytes of the message, with the document
 * @param isRequired subscribers can't follow references, so the message fails instead
 */
export function inlineDocuments(limit: number, overflow: Pick<OverflowBucket, "get">, isRequired = false) {
  return async ({ message, storage }: Pick<Published, "message" | "storage">): Promise<string> => {
    const document = message.type === "data.updated" ? message.data.document : undefined;
    if (document === undefined) return jsonText(message);
    try {
      if (storage === undefined) throw permanent("the message reports a document without its data");
      if (document.size > limit) throw tooLarge();
      // A message is UTF-8 text, which would change the provider's bytes.
      if (document.contentType !== plainJson)
        throw permanent(
          "the document is not JSON in UTF-8, so a message can't contain it, and reading is none",
        );
      const content = await contentOfDocument({ document: { digest: document.sha256 }, storage }, overflow);
      const text = content && withContent(message, Buffer.concat(content.parts).toString("utf8"));
      if (text === undefined) throw permanent("the document is not JSON, or its data is missing");
      if (Buffer.byteLength(text) > limit) throw tooLarge();
      return text;
    } catch (error) {
      if (isRequired) throw error;
      return jsonText(message);
    }
  };
}

function tooLarge(): Error {
  return permanent("the document is larger than documents.inlineLimit, and reading is none");
}
