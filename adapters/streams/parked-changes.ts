import { type DynamoDBClient, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { permanent } from "../../domain/core/failures.ts";
import { fieldsOf, parseJson, textOf } from "../../domain/core/parse.ts";
import { relayMarkKey } from "../dynamodb/keys.ts";
import type { ObjectBucket } from "../s3/overflow-bucket.ts";
import type { StreamRecord } from "./change-stream.ts";

/** Records whose messages one subscriber did not get. */
export type ParkedBatch = {
  readonly since: Date;
  readonly read: () => Promise<readonly StreamRecord[]>;
  readonly remove: () => Promise<void>;
};

/** Lambda stores its own objects beside these, at `aws/lambda/<mapping>/`. */
const folder = "aws/lambda/parked";
const subscribersFolder = `${folder}-for/`;

/**
 * Stores parked records where Lambda stores batches that it gave up on, in the same form. Parking the same records
 * again replaces their object. See `failed-batches.ts`.
 */
export function parkedChanges({ put }: Pick<ObjectBucket, "put">, now: () => Date) {
  return async (records: readonly StreamRecord[], reason: string, subscriber?: string): Promise<void> => {
    const ids = records.map(({ dynamodb }) => dynamodb?.SequenceNumber ?? "unnumbered");
    const [first = "none", last = first] = [ids[0], ids.at(-1)];
    const invocation = {
      requestContext: { condition: reason },
      version: "1.0",
      timestamp: now().toISOString(),
      DDBStreamBatchInfo: { startSequenceNumber: first, endSequenceNumber: last, batchSize: ids.length },
      payload: JSON.stringify({ Records: records }),
    };
    const name =
      subscriber === undefined ? `${folder}/${first}` : `${subscribersFolder}${subscriber}/${first}-${last}`;
    await put(name, JSON.stringify(invocation));
  };
}

/** The batches parked for each subscriber, oldest first. S3 bills one list for all subscribers. */
export async function parkedBatches({
  get,
  list,
  remove,
}: Pick<ObjectBucket, "get" | "list" | "remove">): Promise<ReadonlyMap<string, readonly ParkedBatch[]>> {
  const batches = (await list(subscribersFolder)).map(({ key, since }) => ({
    subscriber: key.slice(subscribersFolder.length).split("/")[0] ?? "",
    since,
    read: async () => readParked(Buffer.from(await get(key)).toString()),
    remove: () => remove(key),
  }));
  return Map.groupBy(batches, ({ subscriber }) => subscriber);
}

/** Reads the records of an object that Lambda or the relay wrote. @throws permanent failure if it holds none */
export function readParked(text: string): readonly StreamRecord[] {
  const invocation = fieldsOf(parseJson(text, "the object"), "the object");
  const { Records } = fieldsOf(parseJson(textOf(invocation, "payload"), "payload"), "payload");
  if (!Array.isArray(Records)) throw permanent("payload.Records: expected a list");
  return Records.map((record: unknown) => readRecord(record));
}

/** Checks only `SequenceNumber`; the relay checks the rest. */
function readRecord(value: unknown): StreamRecord {
  const record = fieldsOf(value, "payload.Records");
  const dynamodb = fieldsOf(record.dynamodb, "payload.Records.dynamodb");
  const SequenceNumber = textOf(dynamodb, "SequenceNumber");
  return { ...record, dynamodb: { ...dynamodb, SequenceNumber } };
}

/** Counts how often a stream record crashed the process that handled it. */
export type RecordMarks = {
  /** Marks a record before it is handled. @returns how many marks it already had */
  readonly add: (sequenceNumber: string) => Promise<number>;
  /** Clears a record's marks after it was handled, successfully or not. */
  readonly clear: (sequenceNumber: string) => Promise<void>;
};

/** Longer than the stream keeps a record. */
const markTtlSeconds = 2 * 86_400;

export function recordMarks(client: DynamoDBClient, TableName: string, now: () => Date): RecordMarks {
  const update = async (sequenceNumber: string, UpdateExpression: string, marks: number) => {
    const expiresAt = Math.floor(now().getTime() / 1_000) + markTtlSeconds;
    const { Attributes } = await client.send(
      new UpdateItemCommand({
        TableName,
        Key: marshall(relayMarkKey(sequenceNumber)),
        UpdateExpression,
        ExpressionAttributeValues: marshall({ ":marks": marks, ":end": expiresAt }),
        ReturnValues: "UPDATED_NEW",
      }),
    );
    return Number(Attributes?.marks?.N ?? marks);
  };
  return {
    add: async (sequenceNumber) =>
      (await update(sequenceNumber, "SET expiresAt = :end ADD marks :marks", 1)) - 1,
    clear: async (sequenceNumber) =>
      void (await update(sequenceNumber, "SET expiresAt = :end, marks = :marks", 0)),
  };
}
