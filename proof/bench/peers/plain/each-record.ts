import type { SQSBatchResponse, SQSRecord } from "aws-lambda";

/** Handles records one by one; failed ones are delivered again. */
export async function eachRecord(
  records: readonly SQSRecord[],
  handle: (body: string) => Promise<void>,
): Promise<SQSBatchResponse> {
  const batchItemFailures: { itemIdentifier: string }[] = [];
  for (const { body, messageId } of records) {
    try {
      await handle(body);
    } catch (error) {
      console.error(JSON.stringify({ message: "record failed", messageId, error: String(error) }));
      batchItemFailures.push({ itemIdentifier: messageId });
    }
  }
  return { batchItemFailures };
}
