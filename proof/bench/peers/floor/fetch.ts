import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import type { SQSEvent } from "aws-lambda";
import { dataKey, digestOf, variable } from "../job.ts";
import { cachedSecret, callProvider } from "../provider.ts";

const table = new DynamoDBClient({});
const readToken = cachedSecret(new SecretsManagerClient({}), variable("TOKEN_SECRET_ARN"), "token");

export async function handler({ Records }: SQSEvent) {
  await Promise.all(Records.map(({ body }) => perform(body)));
  return { batchItemFailures: [] };
}

async function perform(body: string): Promise<void> {
  const wanted = JSON.parse(body);
  const content = await callProvider(wanted, await readToken());
  const { accountId, endpoint } = wanted;
  if (endpoint === undefined) return;
  const { pk, sk } = dataKey(accountId, endpoint);
  const fields = { pk, sk, accountId, endpoint, content, digest: digestOf(content) };
  const Item = Object.fromEntries(
    Object.entries({ ...fields, fetchedAt: new Date().toISOString() }).map(([name, S]) => [name, { S }]),
  );
  await table.send(new PutItemCommand({ TableName: variable("TABLE_NAME"), Item }));
}
