import { setTimeout as sleep } from "node:timers/promises";
import {
  type AttributeValue,
  BatchExecuteStatementCommand,
  BatchGetItemCommand,
  type BatchStatementErrorCodeEnum,
  type BatchStatementRequest,
  type BatchStatementResponse,
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
} from "@aws-sdk/client-dynamodb";
import { convertToAttr, marshall } from "@aws-sdk/util-dynamodb";
import { batchesOf, roundsOf } from "../../domain/core/batches.ts";
import { permanent, retryable } from "../../domain/core/failures.ts";
import { type Fields, isFields, present } from "../../domain/core/parse.ts";
import { type Key, readItem } from "./keys.ts";

export type Item = Record<string, AttributeValue>;

/** DynamoDB's limit of keys in a request. */
const maxKeys = 100;
/** Maximum attempts to read the keys that DynamoDB left unprocessed. */
const maxReadAttempts = 4;

/**
 * Reads items consistently. Missing items are left out.
 * @param keys for one request, without duplicates, which DynamoDB rejects
 * @param attributes to read; absent: all
 * @throws retryable failure if DynamoDB does not answer for every key: an unread item must not pass for a missing one
 */
async function batchGet(
  client: DynamoDBClient,
  tableName: string,
  keys: readonly Key[],
  attributes: readonly string[] | undefined,
): Promise<readonly Item[]> {
  const found: Item[] = [];
  let left = keys.map(({ pk, sk }) => marshall({ pk, sk }));
  for (let tries = 0; left.length > 0; tries += 1) {
    if (tries === maxReadAttempts) throw retryable("DynamoDB does not answer for every item", 1);
    const projection = attributes === undefined ? {} : { ProjectionExpression: attributes.join(", ") };
    const request = { Keys: left, ConsistentRead: true, ...projection };
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

/**
 * Concurrent reads share one request and its failure.
 * @param attributes to read, which include the keys; absent: all
 */
export function batchingReader(
  client: DynamoDBClient,
  tableName: string,
  attributes?: readonly string[],
): ReadKey {
  let open: ReturnType<typeof openBatch> | undefined;
  const openBatch = () => {
    const keys = new Map<string, Key>();
    const items = new Promise<void>((resolve) => setImmediate(resolve)).then(async () => {
      // Later calls must not get the result of this read.
      open = undefined;
      const found: Item[] = [];
      for (const batch of batchesOf([...keys.values()], { maxItems: maxKeys }))
        found.push(...(await batchGet(client, tableName, batch, attributes)));
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

/**
 * Waits for a conditional write.
 * @returns undefined if it succeeded, else the item that failed its condition: empty unless the write sets
 * `ReturnValuesOnConditionCheckFailure`
 * @throws any other error of the write
 */
export async function conflictOf(
  write: Promise<unknown>,
): Promise<Readonly<Record<string, AttributeValue>> | undefined> {
  try {
    await write;
    return undefined;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return error.Item ?? {};
    throw error;
  }
}

/** Waits for a conditional write. @returns false if its condition failed @throws as `conflictOf` */
export async function isWritten(write: Promise<unknown>): Promise<boolean> {
  return (await conflictOf(write)) === undefined;
}

/** Compares the value at a path of the item. The path must exist: engines differ on missing paths. */
export type Condition = {
  readonly path: readonly string[];
  readonly operator: "=" | "<>";
  readonly value: string | number;
};

/** An insert requires that no item has the key; an update requires that all its conditions hold. */
export type Write =
  | { readonly type: "insert"; readonly key: Key; readonly attributes: Fields }
  | {
      readonly type: "update";
      readonly key: Key;
      /** One attribute, because not every engine updates several: put values that change together into one map. */
      readonly attribute: string;
      readonly value: unknown;
      readonly where: readonly Condition[];
    };

/**
 * Makes one write. After a lost answer, `conflict` can mean the caller's own earlier attempt.
 * @throws permanent failure if DynamoDB rejects the write; retryable failure if it can't make it now
 */
export type WriteItem = (write: Write) => Promise<"written" | "conflict">;

/**
 * DynamoDB's limit of statements in a request. 25 items of 400 KB, base64 included, stay below its limit of 16 MB for
 * a batch of writes.
 */
const maxStatements = 25;
/** Maximum attempts for a statement that fails with a transient error. The SDK retries whole requests by itself. */
const maxAttempts = 4;
const firstPauseInMs = 100;

/** Waits a random time below a ceiling that doubles with each attempt; short enough for an invocation. */
async function backOffAtRandom(attempts: number): Promise<void> {
  await sleep(Math.random() * firstPauseInMs * 2 ** (attempts - 1));
}

const conflicts: readonly (BatchStatementErrorCodeEnum | undefined)[] = [
  "DuplicateItem",
  "ConditionalCheckFailed",
];
const transient: readonly (BatchStatementErrorCodeEnum | undefined)[] = [
  "InternalServerError",
  "ProvisionedThroughputExceeded",
  "RequestLimitExceeded",
  "ThrottlingError",
  "TransactionConflict",
];

type Pending = {
  readonly key: string;
  readonly statement: BatchStatementRequest;
  readonly resolve: (outcome: "written" | "conflict") => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Concurrent writes share one request and its failure; each statement has its own result.
 * @param backOff waits before the next attempt, after `attempts` attempts
 */
export function batchingWriter(
  client: DynamoDBClient,
  tableName: string,
  backOff: (attempts: number) => Promise<void> = backOffAtRandom,
): WriteItem {
  const requests = new StatementRequests(client, backOff);
  let open: Pending[] | undefined;
  const openBatch = (): Pending[] => {
    const batch: Pending[] = [];
    setImmediate(() => {
      open = undefined;
      void requests.sendAll(batch);
    });
    return batch;
  };
  return (write) =>
    new Promise((resolve, reject) => {
      const statement = statementOf(tableName, write);
      open ??= openBatch();
      open.push({ key: nameOf(write.key), statement, resolve, reject });
    });
}

/** Sends writes in batches. Settles every write; never throws. */
class StatementRequests {
  readonly #client: DynamoDBClient;
  readonly #backOff: (attempts: number) => Promise<void>;

  constructor(client: DynamoDBClient, backOff: (attempts: number) => Promise<void>) {
    this.#client = client;
    this.#backOff = backOff;
  }

  /** DynamoDB rejects a request that names a key twice, so writes to one key go into consecutive requests. */
  async sendAll(writes: readonly Pending[]): Promise<void> {
    for (const round of roundsOf(writes, ({ key }) => key)) {
      const batches = batchesOf(round, { maxItems: maxStatements });
      await Promise.all(batches.map((batch) => this.#send(batch)));
    }
  }

  async #send(batch: readonly Pending[]): Promise<void> {
    let left = batch;
    for (let attempts = 1; ; attempts += 1) {
      left = await this.#request(left, attempts === maxAttempts);
      if (left.length === 0) return;
      await this.#backOff(attempts);
    }
  }

  /** @returns the writes to send again */
  async #request(batch: readonly Pending[], isLast: boolean): Promise<readonly Pending[]> {
    try {
      const Statements = batch.map(({ statement }) => statement);
      const { Responses = [] } = await this.#client.send(new BatchExecuteStatementCommand({ Statements }));
      return batch.filter((pending, index) => !trySettle(pending, Responses[index], isLast));
    } catch (error) {
      if (!(error instanceof Error && error.name === "ValidationException")) {
        for (const { reject } of batch) reject(error);
      } else if (batch.length === 1) {
        for (const { reject } of batch) reject(permanent(`DynamoDB: ${error.name}`));
      } else {
        // One invalid statement must not fail the others.
        await Promise.all(batch.map((pending) => this.#send([pending])));
      }
      return [];
    }
  }
}

/** Settles a write by its response. @returns false if the write must be sent again */
function trySettle(
  { resolve, reject }: Pending,
  response: BatchStatementResponse | undefined,
  isLast: boolean,
) {
  const code = response === undefined ? "InternalServerError" : response.Error?.Code;
  if (transient.includes(code) && !isLast) return false;
  if (response !== undefined && response.Error === undefined) resolve("written");
  else if (conflicts.includes(code)) resolve("conflict");
  else if (code === "ValidationError") reject(permanent(`DynamoDB: ${code}`));
  else reject(retryable(`DynamoDB: ${code ?? "unknown"}`));
  return true;
}

function statementOf(tableName: string, write: Write): BatchStatementRequest {
  const { type, key } = write;
  if (type === "insert") {
    const attributes = present<Fields>({ ...key, ...write.attributes });
    const names = Object.keys(attributes).map((name) => `'${name}': ?`);
    return {
      Statement: `INSERT INTO "${tableName}" VALUE {${names.join(", ")}}`,
      Parameters: Object.values(attributes).map(parameterOf),
    };
  }
  const conditions: readonly Condition[] = [
    { path: ["pk"], operator: "=", value: key.pk },
    { path: ["sk"], operator: "=", value: key.sk },
    ...write.where,
  ];
  const where = conditions.map(({ path, operator }) => `${quoted(path)} ${operator} ?`).join(" AND ");
  return {
    Statement: `UPDATE "${tableName}" SET ${quoted([write.attribute])} = ? WHERE ${where}`,
    Parameters: [write.value, ...conditions.map(({ value }) => value)].map(parameterOf),
  };
}

function quoted(path: readonly string[]): string {
  return path.map((name) => `"${name}"`).join(".");
}

/** Most values are texts in objects. This function converts them several times faster than the SDK does. */
function parameterOf(value: unknown): AttributeValue {
  if (typeof value === "string") return { S: value };
  if (!isFields(value) || Object.getPrototypeOf(value) !== Object.prototype)
    return convertToAttr(value, { removeUndefinedValues: true });
  const M: Item = {};
  for (const name in value) if (value[name] !== undefined) M[name] = parameterOf(value[name]);
  return { M };
}
