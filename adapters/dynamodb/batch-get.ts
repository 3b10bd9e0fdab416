import { type AttributeValue, BatchGetItemCommand, type DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { batchesOf } from "../../domain/core/batches.ts";
import { retryable } from "../../domain/core/failures.ts";
import type { Key } from "./keys.ts";

export type Item = Record<string, AttributeValue>;

/** DynamoDB: keys of one request. */
const maxKeys = 100;
/** What DynamoDB left out of an answer is asked for again so often. */
const maxAttempts = 4;

export type GetOptions = {
  /** Those that are wanted; absent: all. */
  readonly attributes?: readonly string[];
  /** Half as dear, and what was written within the last second may be missing. */
  readonly isEventual?: boolean;
};

/**
 * Reads items, in as few requests as the limits allow. Those that are not there are not in the answer.
 * @param keys each once: DynamoDB refuses a request that names one twice
 * @throws retryable failure where DynamoDB does not answer for all: what is there must not be guessed
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
