import { DescribeTableCommand, type DynamoDBClient } from "@aws-sdk/client-dynamodb";

export type TableSize = { readonly items: number; readonly bytes: number };

/** How large the table is, as AWS counts it about every six hours. */
export async function tableSize(client: DynamoDBClient, TableName: string): Promise<TableSize> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  return { items: Table?.ItemCount ?? 0, bytes: Table?.TableSizeBytes ?? 0 };
}
