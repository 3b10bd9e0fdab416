import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { Fields } from "../../domain/core/parse.ts";
import { batchGet, type GetOptions, type Item } from "./batch-get.ts";
import { readItem } from "./items.ts";
import type { Key } from "./keys.ts";

/** Reads one item; undefined where there is none. */
export type ReadKey = (key: Key) => Promise<Fields | undefined>;

type Batch = { readonly keys: Map<string, Key>; readonly items: Promise<ReadonlyMap<string, Item>> };

/**
 * Those who ask at the same time share one request, and its failure.
 * @param options attributes include the keys
 */
export function batchingReader(client: DynamoDBClient, tableName: string, options?: GetOptions): ReadKey {
  let open: Batch | undefined;
  const openBatch = (): Batch => {
    const keys = new Map<string, Key>();
    const items = new Promise<void>((resolve) => setImmediate(resolve)).then(async () => {
      // Whoever asks from now on must not get what was read before.
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

/** A key as a text of its own, whatever characters its parts hold. */
export function nameOf({ pk = "", sk = "" }: { readonly [Part in keyof Key]: string | undefined }): string {
  return JSON.stringify([pk, sk]);
}
