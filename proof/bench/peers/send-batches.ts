import { SendMessageBatchCommand, type SQSClient } from "@aws-sdk/client-sqs";

/**
 * Sends messages in batches of ten.
 * @throws if any of them fails
 */
export async function sendBatches(
  client: SQSClient,
  QueueUrl: string,
  bodies: readonly string[],
): Promise<void> {
  for (let start = 0; start < bodies.length; start += 10) {
    const Entries = bodies
      .slice(start, start + 10)
      .map((MessageBody, index) => ({ Id: String(index), MessageBody }));
    const { Failed = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    if (Failed.length > 0) throw new Error(`${Failed.length} messages were not taken`);
  }
}
