import {
  type AttributeValue,
  BatchGetItemCommand,
  type DynamoDBClient,
  GetItemCommand,
} from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { batchesOf } from "../../domain/core/batches.ts";
import { retryable } from "../../domain/core/failures.ts";
import type { Fields } from "../../domain/core/parse.ts";
import { type Key, readItem } from "./keys.ts";

export type Item = Record<string, AttributeValue>;

/** DynamoDB's limit of keys in a request. */
const maxKeys = 100;
/** Maximum attempts to read the keys that DynamoDB left unprocessed. */
const maxAttempts = 4;

export type GetOptions = {
  /** Attributes to read; absent: all. */
  readonly attributes?: readonly string[];
  /** Costs half, but may miss writes of the last second. */
  readonly isEventual?: boolean;
};

/**
 * Reads items in as few requests as the limits allow. Missing items are left out.
 * @param keys without duplicates, which DynamoDB rejects
 * @throws retryable failure if DynamoDB does not answer for every key: an unread item must not pass for a missing one
 */
export async function batchGet(
  client: DynamoDBClient,
  tableName: string,
  keys: readonly Key[],
  options: GetOptions = {},
): Promise<readonly Item[]> {
  const found: Item[] = [];
  for (const batch of batchesOf(keys, { maxItems: maxKeys })) {
    found.push(...(await readSome(client, tableName, batch, options)));
  }
  return found;
}

async function readSome(
  client: DynamoDBClient,
  tableName: string,
  keys: readonly Key[],
  { attributes, isEventual = false }: GetOptions,
): Promise<readonly Item[]> {
  const found: Item[] = [];
  let left = keys.map(({ pk, sk }) => marshall({ pk, sk }));
  for (let tries = 0; left.length > 0; tries += 1) {
    if (tries === maxAttempts) throw retryable("DynamoDB does not answer for every item", 1);
    const projection = attributes === undefined ? {} : { ProjectionExpression: attributes.join(", ") };
    const request = { Keys: left, ConsistentRead: !isEventual, ...projection };
    const { Responses = {}, UnprocessedKeys = {} } = await client.send(
      new BatchGetItemCommand({ RequestItems: { [tableName]: request } }),
    );
    found.push(...Object.values(Responses).flat());
    left = Object.values(UnprocessedKeys).flatMap(({ Keys = [] }) => Keys);
  }
  return found;
}

/** Reads one item; undefined if there is none. */
export type ReadKey = (key: Key) => Promise<Fields | undefined>;

/** Reads consistently, with a request for each item. */
export function itemReader(client: DynamoDBClient, TableName: string): ReadKey {
  return async (key) => {
    const get = new GetItemCommand({ TableName, Key: marshall(key), ConsistentRead: true });
    const { Item } = await client.send(get);
    return Item && readItem(Item);
  };
}

type Batch = { readonly keys: Map<string, Key>; readonly items: Promise<ReadonlyMap<string, Item>> };

/**
 * Concurrent reads share one request and its failure.
 * @param options `attributes` must include the keys
 */
export function batchingReader(client: DynamoDBClient, tableName: string, options?: GetOptions): ReadKey {
  let open: Batch | undefined;
  const openBatch = (): Batch => {
    const keys = new Map<string, Key>();
    const items = new Promise<void>((resolve) => setImmediate(resolve)).then(async () => {
      // Later calls must not get the result of this read.
      open = undefined;
      const found = await batchGet(client, tableName, [...keys.values()], options);
      return new Map(found.map((item) => [nameOf({ pk: item.pk?.S, sk: item.sk?.S }), item]));
    });
    return { keys, items };
  };
  return async (key) => {
    open ??= openBatch();
    const { keys, items } = open;
    keys.set(nameOf(key), key);
    const item = (await items).get(nameOf(key));
    return item === undefined ? undefined : readItem(item);
  };
}

/** A unique text for a key, whatever characters its parts contain. */
export function nameOf({ pk = "", sk = "" }: { readonly [Part in keyof Key]: string | undefined }): string {
  return JSON.stringify([pk, sk]);
}
