import { type DynamoDBClient, QueryCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { fieldsOf, isFields, optionalText, present, textOf } from "../../domain/core/parse.ts";
import {
  type EraseTask,
  parseIncomplete,
  parseRefused,
  parseRemoved,
  type RefusedKind,
  type Removed,
} from "../../domain/recovery/erasure.ts";
import { itemReader } from "../dynamodb/batching.ts";
import { itemVersion, tombstoneKey } from "../dynamodb/keys.ts";

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

/** Writes tombstones for erasures. Items contain only digests. */
export type Tombstones = {
  /** Places a tombstone with the erasure's correlation id. An existing one keeps its own and lives longer. */
  readonly place: (digest: string, correlationId: string | undefined) => Promise<Tombstone>;
  readonly isPlaced: (digest: string) => Promise<boolean>;
  /** Records that subscribers were notified. */
  readonly markAnnounced: (digest: string) => Promise<void>;
  /** Stores what an erasure found, under its correlation id. A later pass replaces what an earlier one stored. */
  readonly keepFound: (
    digest: string,
    correlationId: string,
    task: Pick<EraseTask, "removed" | "incomplete" | "refused" | "pass">,
  ) => Promise<void>;
};

const secondsPerDay = 86_400;

/** @param lifetimeInDays how long a copy of erased data can still turn up */
export function tombstones(
  client: DynamoDBClient,
  tableName: string,
  lifetimeInDays: number,
  now: () => Date,
): Tombstones {
  return {
    place: async (digest, correlationId) => {
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
    isPlaced: async (digest) => {
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
    markAnnounced: async (digest) => {
      await client.send(
        new UpdateItemCommand({
          TableName: tableName,
          Key: marshall(tombstoneKey(digest)),
          UpdateExpression: "SET isTold = :true",
          ExpressionAttributeValues: marshall({ ":true": true }),
        }),
      );
    },
    keepFound: async (digest, correlationId, { removed, incomplete, refused, pass }) => {
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
