import { randomUUID } from "node:crypto";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { S3Client } from "@aws-sdk/client-s3";
import {
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  type ReceiveMessageRequest,
  SQSClient,
} from "@aws-sdk/client-sqs";
import type { Access } from "@income-events/local-stack/system.ts";

/** The SDK clients of one caller. */
export function clientsOf(access: Access) {
  const dynamodb = new DynamoDBClient(access);
  const sqs = new SQSClient(access);
  const s3 = new S3Client({ ...access, forcePathStyle: true });
  return {
    dynamodb,
    sqs,
    s3,
    [Symbol.dispose]: () => {
      for (const client of [dynamodb, sqs, s3]) client.destroy();
    },
  };
}

/**
 * Group and deduplication id that a FIFO queue requires; empty for a standard queue. Each message has its own
 * group.
 */
export function fifoOrder(queueUrl: string): {
  readonly MessageGroupId?: string;
  readonly MessageDeduplicationId?: string;
} {
  if (!queueUrl.endsWith(".fifo")) return {};
  return { MessageGroupId: randomUUID(), MessageDeduplicationId: randomUUID() };
}

/** Takes up to ten messages out of a queue. */
export async function takeBatch(
  sqs: SQSClient,
  QueueUrl: string,
  options: Omit<ReceiveMessageRequest, "QueueUrl"> = {},
): Promise<readonly Message[]> {
  const receive = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, ...options });
  const { Messages = [] } = await sqs.send(receive);
  const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
  if (Entries.length > 0) await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
  return Messages;
}
