import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { Fields } from "../../domain/core/parse.ts";
import { batchGet, type GetOptions, type Item } from "./batch-get.ts";
import { readItem } from "./items.ts";
import type { Key } from "./keys.ts";

/** Reads one item; undefined if there is none. */
export type ReadKey = (key: Key) => Promise<Fields | undefined>;

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
