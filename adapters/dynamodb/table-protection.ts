import { DescribeTableCommand, type DynamoDBClient, UpdateTableCommand } from "@aws-sdk/client-dynamodb";

/** Protects a table from being deleted; one that is protected is left as it is. */
export async function protectTable(client: DynamoDBClient, tableName: string): Promise<void> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName: tableName }));
  if (Table?.DeletionProtectionEnabled === true) return;
  await client.send(new UpdateTableCommand({ TableName: tableName, DeletionProtectionEnabled: true }));
}
