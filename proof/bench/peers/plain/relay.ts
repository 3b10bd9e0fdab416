import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { DynamoDBDocumentClient, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import type { DynamoDBRecord, DynamoDBStreamEvent } from "aws-lambda";
import { change } from "../changes.ts";
import { subscriberQueueUrl, variable } from "../job.ts";

const queues = new SQSClient({});
const table = DynamoDBDocumentClient.from(new DynamoDBClient({}));

export async function handler({ Records }: DynamoDBStreamEvent) {
  for (const record of Records) {
    try {
      await relay(record);
    } catch (error) {
      console.error(JSON.stringify({ message: "change failed", error: String(error) }));
      return { batchItemFailures: [{ itemIdentifier: record.dynamodb?.SequenceNumber ?? "" }] };
    }
  }
  return { batchItemFailures: [] };
}

async function relay(record: DynamoDBRecord): Promise<void> {
  const { profile, task, message } = change(record);
  if (profile !== undefined) {
    await table.send(new UpdateCommand({ TableName: variable("TABLE_NAME"), ...profile }));
  }
  if (task !== undefined) await send(variable("FETCH_QUEUE_URL"), JSON.stringify(task));
  await send(subscriberQueueUrl(), message);
}

async function send(QueueUrl: string, MessageBody: string): Promise<void> {
  await queues.send(new SendMessageCommand({ QueueUrl, MessageBody }));
}
