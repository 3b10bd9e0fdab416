import {
  type DynamoDBClient,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { fieldsOf, isFields, numberOf, optionalText, present, textOf } from "../../domain/core/parse.ts";
import {
  type EraseTask,
  parseIncomplete,
  parseRefused,
  parseRemoved,
  type RefusedKind,
  type Removed,
} from "../../domain/recovery/erasure.ts";
import { isWritten, itemReader } from "../dynamodb/batching.ts";
import { erasureReportKey, itemVersion, tombstoneKey } from "../dynamodb/keys.ts";

/**
 * What remains of an erased subject: when it was first erased, under which correlation id, so that later erasures
 * report the same, and whether subscribers were notified.
 */
export type Tombstone = {
  readonly erasedAt: string;
  readonly isAnnounced: boolean;
  readonly correlationId?: string;
};

/** What one erasure found. It contains counts and no ids. */
export type Found = {
  readonly removed: Removed;
  /** Queues with dead letters that the erasure could not see. */
  readonly incomplete: readonly string[];
  /** Kinds of objects that S3 refused to return, at least some of them. */
  readonly refused: readonly RefusedKind[];
  /** Whether the second pass has finished too, and S3 refused nothing in it. */
  readonly isFinished: boolean;
};

const secondsPerDay = 86_400;

/**
 * Writes tombstones for erasures. Items contain only digests.
 * @param lifetimeInDays how long a copy of erased data can still turn up
 */
export function tombstones(
  client: DynamoDBClient,
  tableName: string,
  lifetimeInDays: number,
  now: () => Date,
) {
  return {
    /** Places a tombstone with the erasure's correlation id. An existing one keeps its own and lives longer. */
    place: async (digest: string, correlationId: string | undefined): Promise<Tombstone> => {
      const noted =
        correlationId === undefined ? "" : ", correlationId = if_not_exists(correlationId, :correlation)";
      const { Attributes = {} } = await client.send(
        new UpdateItemCommand({
          TableName: tableName,
          Key: marshall(tombstoneKey(digest)),
          UpdateExpression: `SET erasedAt = if_not_exists(erasedAt, :now), expiresAt = :expires, schemaVersion = :version, #found = if_not_exists(#found, :nothing)${noted}`,
          ExpressionAttributeNames: { "#found": "found" },
          ExpressionAttributeValues: marshall({
            ...(noted && { ":correlation": correlationId }),
            ":now": now().toISOString(),
            ":expires": Math.ceil(now().getTime() / 1000 + lifetimeInDays * secondsPerDay),
            ":version": itemVersion,
            ":nothing": {},
          }),
          ReturnValues: "ALL_NEW",
        }),
      );
      const item = unmarshall(Attributes);
      return {
        erasedAt: textOf(item, "erasedAt"),
        isAnnounced: item.isTold === true,
        ...present({ correlationId: optionalText(item, "correlationId") }),
      };
    },
    isPlaced: async (digest: string) => {
      const { Count = 0 } = await client.send(
        new QueryCommand({
          TableName: tableName,
          KeyConditionExpression: "pk = :pk",
          ExpressionAttributeValues: marshall({ ":pk": tombstoneKey(digest).pk }),
          ConsistentRead: true,
        }),
      );
      return Count > 0;
    },
    /** Records that subscribers were notified. */
    markAnnounced: async (digest: string) => {
      await client.send(
        new UpdateItemCommand({
          TableName: tableName,
          Key: marshall(tombstoneKey(digest)),
          UpdateExpression: "SET isTold = :true",
          ExpressionAttributeValues: marshall({ ":true": true }),
        }),
      );
    },
    /** Stores what an erasure found, under its correlation id. A later pass replaces what an earlier one stored. */
    keepFound: async (
      digest: string,
      correlationId: string,
      { removed, incomplete, refused, pass }: Pick<EraseTask, "removed" | "incomplete" | "refused" | "pass">,
    ) => {
      const isFinished = pass === 2 && refused.length === 0;
      await client.send(
        new UpdateItemCommand({
          TableName: tableName,
          Key: marshall(tombstoneKey(digest)),
          UpdateExpression: "SET #found.#id = :found",
          ExpressionAttributeNames: { "#found": "found", "#id": correlationId },
          ExpressionAttributeValues: marshall({ ":found": { removed, incomplete, refused, isFinished } }),
        }),
      );
    },
  };
}

/** A tombstone, as reports on an erasure read it. */
export type KeptErasure = { readonly erasedAt: string; readonly found: readonly Found[] };

/** @returns undefined if the subject was never erased, or its tombstone has expired */
export async function readErasure(
  client: DynamoDBClient,
  tableName: string,
  digest: string,
): Promise<KeptErasure | undefined> {
  const item = await itemReader(client, tableName)(tombstoneKey(digest));
  if (item === undefined) return undefined;
  const found = Object.values(isFields(item.found) ? item.found : {});
  return { erasedAt: textOf(item, "erasedAt"), found: found.map(parseFound) };
}

/** @throws permanent failure naming the field */
function parseFound(value: unknown): Found {
  const { removed, incomplete, refused, isFinished } = fieldsOf(value, "found");
  return {
    removed: parseRemoved(removed),
    incomplete: parseIncomplete(incomplete),
    refused: parseRefused(refused),
    isFinished: isFinished === true,
  };
}

/** Progress of an erasure. It contains counts and no ids. */
export type ErasureReport = Pick<
  EraseTask,
  "isFound" | "removed" | "incomplete" | "refused" | "isWaiting"
> & {
  readonly step: string;
  readonly isDone: boolean;
  /** Whether a legal hold prevented the erasure; absent: no. */
  readonly isHeld?: true;
  /** Number of subjects: the erased one, and those that belong to it. */
  readonly subjects: number;
};

/**
 * How a step ended. `held`: a legal hold prevented the erasure. `waiting`: S3 refuses objects that may name the
 * erased subject.
 */
export type StepOutcome = "going on" | "waiting" | "done" | "held";

const lifetimeInSeconds = 86_400;

/** @returns a function that stores the report of an erasure after a step */
export function reportWriter(client: DynamoDBClient, tableName: string, now: () => Date) {
  return async (task: EraseTask, outcome: StepOutcome): Promise<void> => {
    const { id, next, erased, isFound, removed, incomplete, refused } = task;
    if (id === undefined) return;
    const isDone = outcome === "done" || outcome === "held";
    const counts = { subjects: erased.length, removed, incomplete, refused };
    const report = { step: next, isDone, isFound, ...counts };
    const expiresAt = Math.ceil(now().getTime() / 1000) + lifetimeInSeconds;
    const state = {
      ...(outcome === "held" && { isHeld: true }),
      ...(outcome === "waiting" && { isWaiting: true }),
    };
    const item = { ...erasureReportKey(id), schemaVersion: itemVersion, expiresAt, ...report, ...state };
    // A duplicate of a step that runs after its records are deleted finds fewer than the first run.
    const isNoCopy = "(attribute_not_exists(subjects) OR subjects <= :subjects)";
    // A step writes its report last, so later steps may already have finished.
    const isNotOver = isDone ? "" : " AND (attribute_not_exists(isDone) OR isDone = :false)";
    await isWritten(
      client.send(
        new PutItemCommand({
          TableName: tableName,
          Item: marshall(item),
          ConditionExpression: `${isNoCopy}${isNotOver}`,
          ExpressionAttributeValues: marshall({
            ":subjects": erased.length,
            ...(isDone ? {} : { ":false": false }),
          }),
        }),
      ),
    );
  };
}

/** @returns undefined while the erasure has not begun */
export async function readReport(
  client: DynamoDBClient,
  tableName: string,
  id: string,
): Promise<ErasureReport | undefined> {
  const item = await itemReader(client, tableName)(erasureReportKey(id));
  if (item === undefined) return undefined;
  return {
    step: textOf(item, "step"),
    isDone: item.isDone === true,
    isFound: item.isFound === true,
    ...(item.isHeld === true && { isHeld: true }),
    subjects: numberOf(item, "subjects"),
    removed: parseRemoved(item.removed),
    incomplete: parseIncomplete(item.incomplete),
    refused: parseRefused(item.refused),
    ...(item.isWaiting === true && { isWaiting: true }),
  };
}
