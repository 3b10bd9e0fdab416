import { ConditionalCheckFailedException, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import type { SQSEvent } from "aws-lambda";
import { eventKey, factsOf, variable } from "../job.ts";
import { received } from "../payloads.ts";
import { eachRecord } from "./each-record.ts";

const table = DynamoDBDocumentClient.from(new DynamoDBClient({}), {
  marshallOptions: { removeUndefinedValues: true },
});

export const handler = ({ Records }: SQSEvent) => eachRecord(Records, store);

async function store(body: string): Promise<void> {
  const { id, kind, receivedAt, payload } = received.parse(JSON.parse(body));
  const facts = factsOf(payload);
  const Item = { ...eventKey(facts, id), facts, kind, receivedAt, payload };
  const ConditionExpression = "attribute_not_exists(pk)";
  try {
    await table.send(new PutCommand({ TableName: variable("TABLE_NAME"), Item, ConditionExpression }));
    console.log(JSON.stringify({ message: "event stored", kind, id }));
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    console.log(JSON.stringify({ message: "event again", kind, id }));
  }
}
