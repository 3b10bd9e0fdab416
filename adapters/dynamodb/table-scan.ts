import { DescribeTableCommand, type DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { checkSchemaVersion, type Fields, fieldsOf, textOf } from "../../domain/core/parse.ts";
import { readDocument, type StoredDocument } from "./documents.ts";
import { documentPrefix, itemVersion, type Key } from "./keys.ts";

/** What a scan returns. It reads all items, and AWS bills all of them. */
export type TableScan = {
  /** Prefixes of the sort keys of the wanted items. */
  readonly sortKeys: readonly string[];
  /** Attributes to return beside the keys. */
  readonly attributes: readonly string[];
  /** Where an earlier scan stopped. */
  readonly after?: Key;
};

export type ScanPage = {
  readonly items: readonly Fields[];
  /** How many items the scan read. */
  readonly examined: number;
  /** Where to resume; absent on the last page. */
  readonly last?: Key;
};

/**
 * Reads the whole table, one page of at most 1 MB after another, so that it hardly slows the pipeline's own reads.
 * Eventually consistent, for half the price: may miss recent writes.
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

/** The table's size, which AWS updates about every six hours. */
export async function tableSize(client: DynamoDBClient, TableName: string): Promise<TableSize> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  return { items: Table?.ItemCount ?? 0, bytes: Table?.TableSizeBytes ?? 0 };
}

export type DocumentPage = Omit<ScanPage, "items"> & { readonly documents: readonly StoredDocument[] };

/** All documents of the table, in no order. See `scanTable` for the cost. @param after where to resume */
export async function* scanDocuments(
  client: DynamoDBClient,
  tableName: string,
  after?: Key,
): AsyncGenerator<DocumentPage> {
  const wanted = { sortKeys: [documentPrefix], attributes: ["schemaVersion", "document"] };
  for await (const { items, ...page } of scanTable(client, tableName, {
    ...wanted,
    ...(after && { after }),
  })) {
    const documents = items.map((item) => {
      checkSchemaVersion(item.schemaVersion, itemVersion);
      return readDocument(item);
    });
    yield { documents, ...page };
  }
}
