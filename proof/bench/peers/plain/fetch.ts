import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import type { SQSEvent } from "aws-lambda";
import { dataKey, digestOf, variable } from "../job.ts";
import { task } from "../payloads.ts";
import { cachedSecret, callProvider } from "../provider.ts";

const table = DynamoDBDocumentClient.from(new DynamoDBClient({}));
const readToken = cachedSecret(new SecretsManagerClient({}), variable("TOKEN_SECRET_ARN"), "token");

export async function handler({ Records }: SQSEvent) {
  const batchItemFailures: { itemIdentifier: string }[] = [];
  for (const { body, messageId } of Records) {
    try {
      await perform(body);
    } catch (error) {
      console.error(JSON.stringify({ message: "task failed", messageId, error: String(error) }));
      batchItemFailures.push({ itemIdentifier: messageId });
    }
  }
  return { batchItemFailures };
}

async function perform(body: string): Promise<void> {
  const wanted = task.parse(JSON.parse(body));
  const content = await callProvider(wanted, await readToken());
  const { accountId, endpoint } = wanted;
  if (endpoint !== undefined) {
    const fetchedAt = new Date().toISOString();
    const item = { accountId, endpoint, content, digest: digestOf(content), fetchedAt };
    const Item = { ...dataKey(accountId, endpoint), ...item };
    await table.send(new PutCommand({ TableName: variable("TABLE_NAME"), Item }));
  }
  console.log(JSON.stringify({ message: "task done", task: wanted.task, accountId }));
}
