import {
  type AttributeValue,
  CreateTableCommand,
  DeleteItemCommand,
  type DynamoDBClient,
  PutItemCommand,
  paginateScan,
} from "@aws-sdk/client-dynamodb";

export type Item = Record<string, AttributeValue>;

export async function readItems(client: DynamoDBClient, TableName: string): Promise<readonly Item[]> {
  const items: Item[] = [];
  for await (const page of paginateScan({ client }, { TableName, ConsistentRead: true }))
    items.push(...(page.Items ?? []));
  return items;
}

/** Creates a table as a restore from a backup does: with the items of a point in time, and no stream. */
export async function createTable(
  client: DynamoDBClient,
  TableName: string,
  items: readonly Item[],
): Promise<void> {
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: "PAY_PER_REQUEST",
      KeySchema: [
        { AttributeName: "pk", KeyType: "HASH" },
        { AttributeName: "sk", KeyType: "RANGE" },
      ],
      AttributeDefinitions: ["pk", "sk"].map((AttributeName) => ({ AttributeName, AttributeType: "S" })),
    }),
  );
  for (const Item of items) await client.send(new PutItemCommand({ TableName, Item }));
}

/** Deletes all items of a table. */
export async function emptyTable(client: DynamoDBClient, TableName: string): Promise<void> {
  for (const { pk, sk } of await readItems(client, TableName)) {
    if (pk !== undefined && sk !== undefined)
      await client.send(new DeleteItemCommand({ TableName, Key: { pk, sk } }));
  }
}
