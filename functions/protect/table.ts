import { DescribeTableCommand, DynamoDBClient, UpdateTableCommand } from "@aws-sdk/client-dynamodb";
import { variable } from "../runtime/environment.ts";
import { logged } from "../runtime/log.ts";
import { sanitizeErrors } from "../runtime/sanitize-errors.ts";
import { customResource } from "./custom-resource.ts";

/** Protects a table from being deleted; one that is protected is left as it is. */
export async function protectTable(client: DynamoDBClient, tableName: string): Promise<void> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName: tableName }));
  if (Table?.DeletionProtectionEnabled === true) return;
  await client.send(new UpdateTableCommand({ TableName: tableName, DeletionProtectionEnabled: true }));
}

const client = new DynamoDBClient({});
const table = variable("TABLE_NAME");

/** The resource that depends on all others of the stack: once it is created, the stack stands. */
const handle = sanitizeErrors(
  customResource(async ({ type }) => {
    if (type !== "Delete") await protectTable(client, table);
  }),
);

export const handler = logged(handle);
