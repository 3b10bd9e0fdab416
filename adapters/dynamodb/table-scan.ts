import { DescribeTableCommand, type DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { type Fields, fieldsOf, textOf } from "../../domain/core/parse.ts";
import type { Key } from "./keys.ts";

/** What a scan looks for. Whatever it finds: all items are read, and paid for. */
export type TableScan = {
  /** What the sort keys of the wanted items begin with. */
  readonly sortKeys: readonly string[];
  /** Attributes that are wanted beside the keys. */
  readonly attributes: readonly string[];
  /** Where an earlier scan stopped. */
  readonly after?: Key;
};

export type ScanPage = {
  readonly items: readonly Fields[];
  /** How many items were read for it. */
  readonly examined: number;
  /** Where to go on; absent at the end. */
  readonly last?: Key;
};

/**
 * Reads the whole table, a page of at most 1 MB at a time and one after the other, so that the pipeline's own reads
 * hardly notice. Eventually consistent, for half the price: what was written a moment ago may be missing.
 */
export async function* scanTable(
  client: DynamoDBClient,
  TableName: string,
  { sortKeys, attributes, after }: TableScan,
): AsyncGenerator<ScanPage> {
  const values = Object.fromEntries(sortKeys.map((prefix, index) => [`:prefix${index}`, prefix]));
  const names = Object.fromEntries(attributes.map((name, index) => [`#name${index}`, name]));
  let last = after;
  do {
    const {
      Items = [],
      ScannedCount = 0,
      LastEvaluatedKey,
    } = await client.send(
      new ScanCommand({
        TableName,
        FilterExpression: Object.keys(values)
          .map((value) => `begins_with(sk, ${value})`)
          .join(" OR "),
        ProjectionExpression: ["pk", "sk", ...Object.keys(names)].join(", "),
        ExpressionAttributeValues: marshall(values),
        ...(attributes.length > 0 && { ExpressionAttributeNames: names }),
        ...(last && { ExclusiveStartKey: marshall(last) }),
      }),
    );
    last = LastEvaluatedKey && keyOf(unmarshall(LastEvaluatedKey));
    yield { items: Items.map((item) => unmarshall(item)), examined: ScannedCount, ...(last && { last }) };
  } while (last !== undefined);
}

function keyOf(value: unknown): Key {
  const fields = fieldsOf(value, "the last key");
  return { pk: textOf(fields, "pk"), sk: textOf(fields, "sk") };
}

export type TableSize = { readonly items: number; readonly bytes: number };

/** How large the table is, as AWS counts it about every six hours. */
export async function tableSize(client: DynamoDBClient, TableName: string): Promise<TableSize> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  return { items: Table?.ItemCount ?? 0, bytes: Table?.TableSizeBytes ?? 0 };
}
