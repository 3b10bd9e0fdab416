import { DescribeTableCommand, type DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { permanent } from "../../domain/core/failures.ts";

/** The ARN of a table's stream. @throws permanent failure if the table has none */
export async function streamOf(client: DynamoDBClient, TableName: string): Promise<string> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  if (Table?.LatestStreamArn === undefined) throw permanent(`the table ${TableName} has no stream`);
  return Table.LatestStreamArn;
}
