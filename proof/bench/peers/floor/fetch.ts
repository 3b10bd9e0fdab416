import { BatchWriteItemCommand, DynamoDBClient, type WriteRequest } from "@aws-sdk/client-dynamodb";
import type { SQSEvent } from "aws-lambda";
import { dataItem, variable } from "../job.ts";
import { cachedSecret, callProvider } from "../provider.ts";

const table = new DynamoDBClient({});
const readToken = cachedSecret("TOKEN_SECRET_ARN", "token");

/** Sends one request for the changes of all messages. */
export async function handler({ Records }: SQSEvent) {
  const requests = new Map((await Promise.all(Records.map(({ body }) => perform(body)))).flat());
  if (requests.size > 0) {
    const RequestItems = { [variable("TABLE_NAME")]: [...requests.values()] };
    const { UnprocessedItems = {} } = await table.send(new BatchWriteItemCommand({ RequestItems }));
    if (Object.keys(UnprocessedItems).length > 0) throw new Error("items were not written");
  }
  return { batchItemFailures: [] };
}

async function perform(body: string): Promise<readonly (readonly [string, WriteRequest])[]> {
  const wanted = JSON.parse(body);
  const content = await callProvider(wanted, await readToken());
  const { accountId, endpoint } = wanted;
  if (endpoint === undefined) return [];
  const item = dataItem(accountId, endpoint, content);
  const Item = Object.fromEntries(Object.entries(item).map(([name, S]) => [name, { S }]));
  return [[item.pk + item.sk, { PutRequest: { Item } }]];
}
