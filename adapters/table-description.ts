import { DescribeTableCommand, type DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { permanent } from "../domain/failures.ts";

export type TableSize = { readonly items: number; readonly bytes: number };

/** How large the table is, as AWS counts it about every six hours. */
export async function tableSize(client: DynamoDBClient, TableName: string): Promise<TableSize> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  return { items: Table?.ItemCount ?? 0, bytes: Table?.TableSizeBytes ?? 0 };
}

/** The stream of the table's changes. @throws permanent failure where it has none */
export async function streamOf(client: DynamoDBClient, TableName: string): Promise<string> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  if (Table?.LatestStreamArn === undefined) throw permanent(`the table ${TableName} has no stream`);
  return Table.LatestStreamArn;
}
