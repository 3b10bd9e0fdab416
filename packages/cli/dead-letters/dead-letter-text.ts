import { bodyText, type OverflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import type { DeadLetter } from "../../../domain/recovery/dead-letter.ts";
import { contentOfDeadLetter } from "../../../domain/recovery/dead-letter-content.ts";

/**
 * What a dead letter says: of an event the webhook's own body, wherever it lies; of all else, and where that body is
 * not to be had, the message.
 */
export async function deadLetterText(
  { body }: DeadLetter,
  overflow: Pick<OverflowBucket, "get">,
): Promise<string> {
  const webhook = contentOfDeadLetter(body).envelope?.body;
  if (webhook === undefined || webhook.type === "facts") return body;
  try {
    return await bodyText(webhook, overflow);
  } catch {
    return body;
  }
}
