import { bodyText, type OverflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { contentOfDeadLetter, type DeadLetter } from "../../../domain/recovery/dead-letter.ts";

/**
 * The text of a dead letter: for an event, the webhook's body, even if it is in S3; otherwise, and if that
 * body is unavailable, the message.
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
