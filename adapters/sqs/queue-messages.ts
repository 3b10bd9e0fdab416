import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import { batchesOf } from "../../domain/core/batches.ts";

/** SQS: the most messages of one request. */
const batchSize = 10;

/** Receives up to ten messages, with all of their attributes, and hides them. Times are in seconds. */
export async function receiveBatch(
  client: SQSClient,
  queueUrl: string,
  { poll, hidden }: { readonly poll: number; readonly hidden: number },
): Promise<readonly Message[]> {
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({
      QueueUrl: queueUrl,
      MaxNumberOfMessages: batchSize,
      WaitTimeSeconds: poll,
      VisibilityTimeout: hidden,
      MessageAttributeNames: ["All"],
      MessageSystemAttributeNames: ["SentTimestamp", "ApproximateReceiveCount"],
    }),
  );
  return Messages;
}

type Received = Pick<Message, "ReceiptHandle">;

/** Deletes messages that were received. @returns those of which SQS says that it could not */
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

/** Lets messages that were received be received again at once. One that can't be comes back by itself. */
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
