import { DynamoDBClient, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import type { SQSEvent } from "aws-lambda";
import { eventKey, variable } from "../job.ts";
import { factsOf } from "./facts.ts";

const table = new DynamoDBClient({});

/** One write for each message, without a look at what it holds. */
export async function handler({ Records }: SQSEvent) {
  await Promise.all(Records.map(({ body }) => store(body)));
  return { batchItemFailures: [] };
}

async function store(body: string): Promise<void> {
  const { id, kind, receivedAt, raw } = JSON.parse(body);
  const { pk, sk } = eventKey(factsOf(JSON.parse(raw)), id);
  await table.send(
    new UpdateItemCommand({
      TableName: variable("TABLE_NAME"),
      Key: { pk: { S: pk }, sk: { S: sk } },
      UpdateExpression:
        "SET #k = if_not_exists(#k, :k), #a = if_not_exists(#a, :a), #r = if_not_exists(#r, :r)",
      ExpressionAttributeNames: { "#k": "kind", "#a": "receivedAt", "#r": "raw" },
      ExpressionAttributeValues: { ":k": { S: kind }, ":a": { S: receivedAt }, ":r": { S: raw } },
    }),
  );
}
