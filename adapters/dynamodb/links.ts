import { type DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { itemVersion } from "./items.ts";
import { linkKey } from "./keys.ts";

/** Joins an account to its user; the same link may be written again. */
export type Link = (userId: string, accountId: string) => Promise<void>;

export function linkTable(client: DynamoDBClient, tableName: string): Link {
  return async (userId, accountId) => {
    const item = { ...linkKey(userId, accountId), schemaVersion: itemVersion };
    await client.send(new PutItemCommand({ TableName: tableName, Item: marshall(item) }));
  };
}
