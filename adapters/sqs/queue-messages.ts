import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import { batchesOf } from "../../domain/core/batches.ts";

/** SQS's limit of messages in a request. */
const batchSize = 10;

/** Receives up to ten messages with all their attributes and makes them invisible. Times are in seconds. */
export async function receiveBatch(
  client: SQSClient,
  queueUrl: string,
  { waitSeconds, visibilityTimeout }: { readonly waitSeconds: number; readonly visibilityTimeout: number },
): Promise<readonly Message[]> {
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({
      QueueUrl: queueUrl,
      MaxNumberOfMessages: batchSize,
      WaitTimeSeconds: waitSeconds,
      VisibilityTimeout: visibilityTimeout,
      MessageAttributeNames: ["All"],
      MessageSystemAttributeNames: ["SentTimestamp", "ApproximateReceiveCount"],
    }),
  );
  return Messages;
}

type Received = Pick<Message, "ReceiptHandle">;

/** Deletes received messages. @returns those that SQS could not delete */
export async function deleteAll<M extends Received>(
  client: SQSClient,
  QueueUrl: string,
  messages: readonly M[],
): Promise<readonly M[]> {
  const left: M[] = [];
  for (const batch of batchesOf(messages, { maxItems: batchSize })) {
    const Entries = batch.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
    const { Failed = [] } = await client.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
    left.push(...batch.filter((_, index) => Failed.some(({ Id }) => Id === String(index))));
  }
  return left;
}

/** Makes received messages visible at once. One that fails becomes visible after its timeout. */
export async function releaseAll(
  client: SQSClient,
  QueueUrl: string,
  messages: readonly Received[],
): Promise<void> {
  for (const batch of batchesOf(messages, { maxItems: batchSize })) {
    const Entries = batch.map(({ ReceiptHandle }, index) => ({
      Id: String(index),
      ReceiptHandle,
      VisibilityTimeout: 0,
    }));
    await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries }));
  }
}
