import { randomUUID } from "node:crypto";
import {
  CreateTableCommand,
  type DynamoDBClient,
  GetItemCommand,
  QueryCommand,
  ScanCommand,
} from "@aws-sdk/client-dynamodb";
import type { _Record, DynamoDBStreamsClient } from "@aws-sdk/client-dynamodb-streams";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { loggedNameIndex } from "../../domain/event/subjects.ts";
import { streamReader } from "../../proof/support/stream-reader.ts";

export type TestTable = Awaited<ReturnType<typeof createTable>>;

/** A table with a unique name and a stream. */
export async function createTable(dynamodb: DynamoDBClient, streams: DynamoDBStreamsClient) {
  const name = `t-${randomUUID()}`;
  const { TableDescription } = await dynamodb.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: "PAY_PER_REQUEST",
      KeySchema: [
        { AttributeName: "pk", KeyType: "HASH" },
        { AttributeName: "sk", KeyType: "RANGE" },
      ],
      AttributeDefinitions: [
        { AttributeName: "pk", AttributeType: "S" },
        { AttributeName: "sk", AttributeType: "S" },
        { AttributeName: loggedNameIndex.attribute, AttributeType: "S" },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: loggedNameIndex.name,
          KeySchema: [{ AttributeName: loggedNameIndex.attribute, KeyType: "HASH" }],
          Projection: { ProjectionType: "KEYS_ONLY" },
        },
      ],
      StreamSpecification: { StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" },
    }),
  );
  const streamArn = required(TableDescription?.LatestStreamArn, "LatestStreamArn");
  const changes: _Record[] = [];
  const readPage = streamReader(streams, streamArn, (records) => void changes.push(...records));
  return {
    name,
    item: async (pk: string, sk: string): Promise<Record<string, unknown> | undefined> => {
      const { Item } = await dynamodb.send(
        new GetItemCommand({ TableName: name, Key: marshall({ pk, sk }), ConsistentRead: true }),
      );
      return Item && unmarshall(Item);
    },
    items: async (pk: string): Promise<readonly Record<string, unknown>[]> => {
      const { Items = [] } = await dynamodb.send(
        new QueryCommand({
          TableName: name,
          KeyConditionExpression: "pk = :pk",
          ExpressionAttributeValues: marshall({ ":pk": pk }),
          ConsistentRead: true,
        }),
      );
      return Items.map((item) => unmarshall(item));
    },
    all: async (): Promise<readonly Record<string, unknown>[]> => {
      const { Items = [] } = await dynamodb.send(new ScanCommand({ TableName: name, ConsistentRead: true }));
      return Items.map((item) => unmarshall(item));
    },
    /** All records of the table's stream so far, oldest first. */
    stream: async (): Promise<readonly _Record[]> => {
      while ((await readPage()) > 0);
      return [...changes];
    },
  };
}

/** @throws if an engine returned no such value */
export function required<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new Error(`the engine gave no ${name}`);
  return value;
}
