import {
  DeleteObjectCommand,
  GetObjectCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  type S3Client,
} from "@aws-sdk/client-s3";
import { isFields, parseJson } from "../../domain/core/parse.ts";
import { isRefused } from "../s3/refused.ts";

/**
 * Takes records out of what the relay gave up on: whole batches, as Lambda writes them, an object each.
 * @param isUnwanted is given a record as text
 * @returns how many records were removed, and how many objects S3 refused to give
 */
export type RemoveUndelivered = (
  isUnwanted: (record: string) => boolean,
  options?: { readonly isDryRun: boolean },
) => Promise<{ readonly removed: number; readonly refused: number }>;

export function undeliveredChanges(client: S3Client, bucket: string): RemoveUndelivered {
  return async (isUnwanted, { isDryRun } = { isDryRun: false }) => {
    let [removed, refused] = [0, 0];
    for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket: bucket })) {
      for (const { Key = "" } of Contents) {
        const text = await read(client, { Bucket: bucket, Key });
        if (text === undefined) refused += 1;
        if (text === undefined || !isUnwanted(text)) continue;
        const { kept, removed: count } = withoutUnwanted(text, isUnwanted);
        if (!isDryRun) await replace(client, { Bucket: bucket, Key }, kept);
        removed += count;
      }
    }
    return { removed, refused };
  };
}

type ObjectName = { readonly Bucket: string; readonly Key: string };

/** @returns undefined where S3 refuses it */
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

/** What is in no form that is known goes as a whole: it names whom it must not. */
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
