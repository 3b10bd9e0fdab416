import { setTimeout as sleep } from "node:timers/promises";
import {
  BatchExecuteStatementCommand,
  type BatchStatementErrorCodeEnum,
  type BatchStatementRequest,
  type BatchStatementResponse,
  type DynamoDBClient,
} from "@aws-sdk/client-dynamodb";
import { convertToAttr } from "@aws-sdk/util-dynamodb";
import { batchesOf, roundsOf } from "../../domain/core/batches.ts";
import { permanent, retryable } from "../../domain/core/failures.ts";
import type { Fields } from "../../domain/core/parse.ts";
import { nameOf } from "./batching-reader.ts";
import type { Key } from "./keys.ts";

/** Compares what stands at a path of the item. An engine differs on a path that is missing, so it must be there. */
export type Condition = {
  readonly path: readonly string[];
  readonly operator: "=" | "<>";
  readonly value: string | number;
};

/** An insert expects no item of that key, an update one on which all its conditions hold. */
export type Write =
  | { readonly type: "insert"; readonly key: Key; readonly attributes: Fields }
  | {
      readonly type: "update";
      readonly key: Key;
      /** One attribute: not every engine takes several, so that what changes together lies in one map. */
      readonly attribute: string;
      readonly value: unknown;
      readonly where: readonly Condition[];
    };

/**
 * Makes one write. After an answer that was lost it may have been made before: `conflict` can mean one's own.
 * @throws permanent failure where DynamoDB can't take it; a retryable one where it can't be made now
 */
export type WriteItem = (write: Write) => Promise<"written" | "conflict">;

/** Waits before an attempt that follows so many others. */
type BackOff = (attempts: number) => Promise<void>;

/** DynamoDB: statements of a request. So many items of 400 KB, base64 included, stay below the 16 MB of a batch of writes. */
const maxStatements = 25;
/** So often a statement is sent that DynamoDB asks to repeat; the SDK repeats requests by itself. */
const maxAttempts = 4;
const firstPauseInMs = 100;

/** At random up to a ceiling that doubles with each attempt: short beside the time that an invocation has. */
const backOffAtRandom: BackOff = async (attempts) => {
  await sleep(Math.random() * firstPauseInMs * 2 ** (attempts - 1));
};

type ErrorCode = BatchStatementErrorCodeEnum | undefined;
const conflicts: readonly ErrorCode[] = ["DuplicateItem", "ConditionalCheckFailed"];
const transient: readonly ErrorCode[] = [
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

/** Those who write at the same time share one request, and its failure; what becomes of a statement is its writer's own. */
export function batchingWriter(
  client: DynamoDBClient,
  tableName: string,
  backOff: BackOff = backOffAtRandom,
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

/** Settles each write that it is given, and never fails itself. */
class StatementRequests {
  readonly #client: DynamoDBClient;
  readonly #backOff: BackOff;

  constructor(client: DynamoDBClient, backOff: BackOff) {
    this.#client = client;
    this.#backOff = backOff;
  }

  /** DynamoDB refuses a request that names a key twice: what is written to one key follows in order. */
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

  /** @returns what is to be sent again */
  async #request(batch: readonly Pending[], isLast: boolean): Promise<readonly Pending[]> {
    try {
      const Statements = batch.map(({ statement }) => statement);
      const { Responses = [] } = await this.#client.send(new BatchExecuteStatementCommand({ Statements }));
      return batch.filter((pending, index) => !isOver(pending, Responses[index], isLast));
    } catch (error) {
      if (!(error instanceof Error && error.name === "ValidationException")) {
        for (const { reject } of batch) reject(error);
      } else if (batch.length === 1) {
        for (const { reject } of batch) reject(permanent(`DynamoDB: ${error.name}`));
      } else {
        // One statement that can't be taken must not fail the others.
        await Promise.all(batch.map((pending) => this.#send([pending])));
      }
      return [];
    }
  }
}

/** @returns false where the write is to be sent again */
function isOver({ resolve, reject }: Pending, response: BatchStatementResponse | undefined, isLast: boolean) {
  const code = response === undefined ? "InternalServerError" : response.Error?.Code;
  if (transient.includes(code) && !isLast) return false;
  if (response !== undefined && response.Error === undefined) resolve("written");
  else if (conflicts.includes(code)) resolve("conflict");
  else if (code === "ValidationError") reject(permanent(`DynamoDB: ${code}`));
  else reject(retryable(`DynamoDB: ${code ?? "unknown"}`));
  return true;
}

function statementOf(tableName: string, write: Write): BatchStatementRequest {
  const { type: kind, key } = write;
  if (kind === "insert") {
    const attributes = Object.entries({ ...key, ...write.attributes }).filter(
      ([, value]) => value !== undefined,
    );
    return {
      Statement: `INSERT INTO "${tableName}" VALUE {${attributes.map(([name]) => `'${name}': ?`).join(", ")}}`,
      Parameters: attributes.map(([, value]) => parameterOf(value)),
    };
  }
  const conditions: readonly Condition[] = [
    { path: ["pk"], operator: "=", value: key.pk },
    { path: ["sk"], operator: "=", value: key.sk },
    ...write.where,
  ];
  const where = conditions.map(({ path, operator: is }) => `${quoted(path)} ${is} ?`).join(" AND ");
  return {
    Statement: `UPDATE "${tableName}" SET ${quoted([write.attribute])} = ? WHERE ${where}`,
    Parameters: [write.value, ...conditions.map(({ value }) => value)].map(parameterOf),
  };
}

function quoted(path: readonly string[]): string {
  return path.map((name) => `"${name}"`).join(".");
}

function parameterOf(value: unknown) {
  return convertToAttr(value, { removeUndefinedValues: true });
}
