import {
  DeleteObjectCommand,
  GetObjectCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  type S3Client,
} from "@aws-sdk/client-s3";
import { isFields, parseJson } from "../../domain/core/parse.ts";
import { keepsNoVersions, type PurgeVersions } from "../s3/object-versions.ts";
import { isRefused } from "../s3/overflow-bucket.ts";
import { readParked, type StreamRecord } from "./change-stream.ts";

/** The number of removed records, and the number of objects that S3 refused to return. */
export type RemovedChanges = { readonly removed: number; readonly refused: number };

/**
 * @param purge deletes former versions of what was removed or replaced
 * @returns a function that removes records from the batches that Lambda gave up on and stored as one object each
 */
export function undeliveredChanges(client: S3Client, bucket: string, purge: PurgeVersions = keepsNoVersions) {
  return async (
    isUnwanted: (record: string) => boolean,
    { isDryRun } = { isDryRun: false },
  ): Promise<RemovedChanges> => {
    let [removed, refused] = [0, 0];
    for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket: bucket })) {
      for (const { Key = "" } of Contents) {
        const text = await read(client, { Bucket: bucket, Key });
        if (text === undefined) refused += 1;
        if (text === undefined || !isUnwanted(text)) continue;
        const { kept, removed: count } = withoutUnwanted(text, isUnwanted);
        if (!isDryRun) {
          await replace(client, { Bucket: bucket, Key }, kept);
          await purge(bucket, Key);
        }
        removed += count;
      }
    }
    return { removed, refused };
  };
}

type ObjectName = { readonly Bucket: string; readonly Key: string };

/** @returns undefined if S3 refuses it */
async function read(client: S3Client, object: ObjectName): Promise<string | undefined> {
  try {
    const { Body } = await client.send(new GetObjectCommand(object));
    return (await Body?.transformToString()) ?? "";
  } catch (error) {
    if (isRefused(error)) return undefined;
    throw error;
  }
}

async function replace(client: S3Client, object: ObjectName, kept: string | undefined): Promise<void> {
  if (kept === undefined) await client.send(new DeleteObjectCommand(object));
  else await client.send(new PutObjectCommand({ ...object, Body: kept, ContentType: "application/json" }));
}

/** Deletes an object of unknown form as a whole, since it names an unwanted subject. */
function withoutUnwanted(
  text: string,
  isUnwanted: (record: string) => boolean,
): { readonly kept: string | undefined; readonly removed: number } {
  const invocation = fieldsIn(text);
  const payload = typeof invocation?.payload === "string" ? fieldsIn(invocation.payload) : undefined;
  const records: readonly unknown[] = Array.isArray(payload?.Records) ? payload.Records : [];
  const wanted = records.filter((record) => !isUnwanted(JSON.stringify(record)));
  const removed = Math.max(1, records.length - wanted.length);
  if (wanted.length === 0) return { kept: undefined, removed };
  const kept = JSON.stringify({ ...invocation, payload: JSON.stringify({ ...payload, Records: wanted }) });
  return { kept: isUnwanted(kept) ? undefined : kept, removed };
}

function fieldsIn(text: string) {
  try {
    const value = parseJson(text, "a record of the relay's failures");
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A batch of stream records that Lambda gave up on: an object of the failures bucket. */
export type FailedBatch = {
  readonly key: string;
  /** @throws permanent failure if the object holds no records */
  readonly read: () => Promise<readonly StreamRecord[]>;
  readonly remove: () => Promise<void>;
};

/**
 * The batches in the failures bucket, in the order of their keys, `aws/lambda/<mapping>/<shard>/<date>/…`. Only in S3
 * is `payload` the whole event, as text.
 * Source: Lambda developer guide, "Retain discarded records for a DynamoDB event source".
 */
export async function* failedBatches(client: S3Client, Bucket: string): AsyncGenerator<FailedBatch> {
  for await (const { Contents = [] } of paginateListObjectsV2(
    { client },
    { Bucket, Prefix: "aws/lambda/" },
  )) {
    for (const { Key } of Contents) {
      if (Key === undefined) continue;
      yield {
        key: Key,
        read: async () => {
          const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
          return readParked((await Body?.transformToString()) ?? "");
        },
        remove: async () => {
          await client.send(new DeleteObjectCommand({ Bucket, Key }));
        },
      };
    }
  }
}
