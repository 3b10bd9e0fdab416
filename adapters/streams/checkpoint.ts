import { DeleteItemCommand, type DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { parseRun, type Run } from "../../domain/reconcile/reconciliation.ts";
import { parseRunRequest, type RunRequest } from "../../domain/reconcile/run-request.ts";
import { parseReplayRun, type ReplayRun } from "../../domain/recovery/replay-run.ts";
import { isWritten, itemReader } from "../dynamodb/batching.ts";
import { itemVersion, type Key, reconciliationKey, replayKey, runRequestKey } from "../dynamodb/keys.ts";

/** Stores the progress of some work between its steps. */
export type Checkpoint<T> = {
  readonly load: () => Promise<T | undefined>;
  /**
   * Writes a step over the previous one.
   * @returns the step as written; undefined if another process has written one since
   */
  readonly save: (step: T) => Promise<T | undefined>;
};

/** Where the steps are stored: an attribute of one item. */
export type Place<T> = {
  readonly key: Key;
  readonly attribute: string;
  readonly parse: (value: unknown) => T;
  /** Time to live, in epoch seconds; absent: the item does not expire. */
  readonly expiresAt?: () => number;
};

/** The progress of a reconciliation run between two ticks. */
export function checkpoint(client: DynamoDBClient, tableName: string): Checkpoint<Run> {
  return checkpointAt(client, tableName, { key: reconciliationKey, attribute: "run", parse: parseRun });
}

/** The request for a reconciliation run before the next scheduled one. */
export function runRequests(client: DynamoDBClient, tableName: string): Checkpoint<RunRequest> {
  return checkpointAt(client, tableName, {
    key: runRequestKey,
    attribute: "request",
    parse: parseRunRequest,
  });
}

export function checkpointAt<T extends { readonly version: number }>(
  client: DynamoDBClient,
  tableName: string,
  { key, attribute, parse, expiresAt }: Place<T>,
): Checkpoint<T> {
  return {
    load: async () => {
      const item = await itemReader(client, tableName)(key);
      return item && parse(item[attribute]);
    },
    save: async (step) => {
      const next = { ...step, version: step.version + 1 };
      const item = {
        ...key,
        schemaVersion: itemVersion,
        version: next.version,
        [attribute]: next,
        expiresAt: expiresAt?.(),
      };
      const isSaved = await isWritten(
        client.send(
          new PutItemCommand({
            TableName: tableName,
            Item: marshall(item, { removeUndefinedValues: true }),
            ConditionExpression: "attribute_not_exists(pk) OR #version = :before",
            ExpressionAttributeNames: { "#version": "version" },
            ExpressionAttributeValues: marshall({ ":before": step.version }),
          }),
        ),
      );
      return isSaved ? next : undefined;
    },
  };
}

/** Stores the progress of a replay, so that anybody with access to the table can resume it. */
export type ReplayCheckpoint = Checkpoint<ReplayRun> & { readonly remove: () => Promise<void> };

/** How long an interrupted replay can be resumed. */
const keptForSeconds = 7 * 86_400;

export function replayRuns(
  client: DynamoDBClient,
  tableName: string,
  now: () => Date,
): (id: string) => ReplayCheckpoint {
  return (id) => ({
    ...checkpointAt(client, tableName, {
      key: replayKey(id),
      attribute: "replay",
      parse: parseReplayRun,
      expiresAt: () => Math.floor(now().getTime() / 1000) + keptForSeconds,
    }),
    remove: async () => {
      await client.send(new DeleteItemCommand({ TableName: tableName, Key: marshall(replayKey(id)) }));
    },
  });
}
