import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import type { SQSEvent } from "aws-lambda";
import { dataItem, variable } from "../job.ts";
import { task } from "../payloads.ts";
import { cachedSecret, callProvider } from "../provider.ts";
import { eachRecord } from "./each-record.ts";

const table = DynamoDBDocumentClient.from(new DynamoDBClient({}));
const readToken = cachedSecret("TOKEN_SECRET_ARN", "token");

export const handler = ({ Records }: SQSEvent) => eachRecord(Records, perform);

async function perform(body: string): Promise<void> {
  const wanted = task.parse(JSON.parse(body));
  const content = await callProvider(wanted, await readToken());
  const { accountId, endpoint } = wanted;
  if (endpoint !== undefined) {
    const Item = dataItem(accountId, endpoint, content);
    await table.send(new PutCommand({ TableName: variable("TABLE_NAME"), Item }));
  }
  console.log(JSON.stringify({ message: "task done", task: wanted.task, accountId }));
}
