import { DynamoDBClient, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { SQSClient } from "@aws-sdk/client-sqs";
import type { DynamoDBStreamEvent } from "aws-lambda";
import {
  type Facts,
  factsOf,
  messageOfData,
  messageOfEvent,
  profileKey,
  profileUpdate,
  subscriberQueueUrl,
  variable,
} from "../job.ts";
import { sendBatches } from "../send-batches.ts";

const queues = new SQSClient({});
const table = new DynamoDBClient({});

export async function handler({ Records }: DynamoDBStreamEvent) {
  const tasks: string[] = [];
  const messages: string[] = [];
  const updates: Promise<unknown>[] = [];
  for (const { dynamodb: { NewImage: image = {} } = {} } of Records) {
    const at = image.receivedAt?.S ?? "";
    if (image.raw === undefined) {
      const { accountId, endpoint, digest, fetchedAt } = image;
      messages.push(
        messageOfData(accountId?.S ?? "", endpoint?.S ?? "", digest?.S ?? "", fetchedAt?.S ?? ""),
      );
      continue;
    }
    const facts = factsOf(JSON.parse(image.raw.S ?? ""));
    messages.push(messageOfEvent(facts, (image.sk?.S ?? "").slice("EVENT#".length), at));
    if (facts.endpoint === undefined) updates.push(updateProfile(facts, at));
    if (facts.endpoint !== undefined || facts.connected === true) tasks.push(taskOf(facts));
  }
  await Promise.all([
    ...updates,
    sendBatches(queues, variable("FETCH_QUEUE_URL"), tasks),
    sendBatches(queues, subscriberQueueUrl(), messages),
  ]);
  return { batchItemFailures: [] };
}

function taskOf({ accountId, endpoint }: Facts): string {
  return JSON.stringify({ task: endpoint === undefined ? "start" : "read", accountId, endpoint });
}

function updateProfile(facts: Facts, at: string): Promise<unknown> {
  const { pk, sk } = profileKey(facts);
  return table.send(
    new UpdateItemCommand({
      TableName: variable("TABLE_NAME"),
      Key: { pk: { S: pk }, sk: { S: sk } },
      UpdateExpression: profileUpdate(facts),
      ExpressionAttributeValues: {
        ":user": { S: facts.userId ?? "" },
        ":connected": { BOOL: facts.connected ?? false },
        ":at": { S: at },
      },
    }),
  );
}
