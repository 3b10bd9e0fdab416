import { type AttributeValue, type DynamoDBClient, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { permanent } from "../../domain/core/failures.ts";
import { type Fields, fieldsOf, numberOf, parseJson, textOf } from "../../domain/core/parse.ts";
import { parseEvent } from "../../domain/event/events.ts";
import { parseReceipts } from "../../domain/event/receipts.ts";
import { parseSubject } from "../../domain/event/subjects.ts";
import {
  parseDocument,
  parseStorage,
  parseSuperseded,
  type SupersededObject,
} from "../../domain/fetch/document.ts";
import { parseAccountReadiness, parseUserReadiness } from "../../domain/readiness/stored-readiness.ts";
import type { Change } from "../../domain/state/change.ts";
import { parseState } from "../../domain/state/state.ts";
import { canaryPrefix, documentPrefix, readItem, relayMarkKey } from "../dynamodb/keys.ts";
import type { ObjectBucket } from "../s3/overflow-bucket.ts";

/** A record of the table's stream as Lambda passes it; `@types/aws-lambda` promises more fields. */
export type StreamRecord = {
  readonly dynamodb?:
    | {
        readonly SequenceNumber?: string | undefined;
        /** Epoch seconds if Lambda passes it. */
        readonly ApproximateCreationDateTime?: number | Date | undefined;
        readonly OldImage?: Record<string, unknown> | undefined;
        readonly NewImage?: Record<string, unknown> | undefined;
      }
    | undefined;
};

/**
 * Reads a stream record as a change of the domain.
 * @throws permanent failure naming the invalid field, which sends the record to the failure destination; retryable
 * failure if a later release wrote it
 */
export function readChange(record: StreamRecord): Change {
  const after = readImage(record.dynamodb?.NewImage);
  if (after === undefined) throw permanent("NewImage: missing");
  return changeOf(readImage(record.dynamodb?.OldImage), after);
}

/**
 * Reads the record of a deleted item. The stream's filter passes only items that pointed to an object and could expire.
 * @returns the object of an item that had expired, or none if it was deleted earlier; undefined if the item still exists
 * @throws permanent failure naming the invalid field
 */
export function readExpired({ dynamodb }: StreamRecord): readonly SupersededObject[] | undefined {
  const before = dynamodb?.NewImage === undefined ? readImage(dynamodb?.OldImage) : undefined;
  if (before === undefined) return undefined;
  const deletedAt = dynamodb?.ApproximateCreationDateTime;
  if (typeof deletedAt !== "number" || numberOf(before, "expiresAt") > deletedAt) return [];
  return [parseSuperseded(before.document)];
}

/** The id in the record of a new canary; undefined for any other record. */
export function readCanary({ dynamodb }: StreamRecord): string | undefined {
  const { S: sortKey } = Object(dynamodb?.NewImage?.sk);
  const isCanary = typeof sortKey === "string" && sortKey.startsWith(canaryPrefix);
  return isCanary ? sortKey.slice(canaryPrefix.length) : undefined;
}

/**
 * Reads an item of the table as a change of the domain.
 * @param before the previous item; undefined if the item is new or its previous value unknown
 * @throws permanent failure naming the invalid field
 */
export function changeOf(before: Fields | undefined, after: Fields): Change {
  const sortKey = textOf(after, "sk");
  if (sortKey.startsWith("EVENT#")) {
    const countBefore = before === undefined ? 0 : parseReceipts(before.receipts).count;
    return {
      type: "event",
      event: parseEvent(after.event),
      receipts: parseReceipts(after.receipts),
      countBefore,
    };
  }
  if (sortKey === "STATE") {
    return { type: "state", before: before && parseState(before.state), after: parseState(after.state) };
  }
  if (sortKey === "READINESS" && isUser(after.readiness)) {
    return {
      type: "userReadiness",
      before: before && parseUserReadiness(before.readiness),
      after: parseUserReadiness(after.readiness),
    };
  }
  if (sortKey === "READINESS") {
    return {
      type: "readiness",
      before: before && parseAccountReadiness(before.readiness),
      after: parseAccountReadiness(after.readiness),
    };
  }
  if (sortKey.startsWith(documentPrefix)) {
    const storage = parseStorage(withBytes(fieldsOf(after.document, "document")));
    return {
      type: "document",
      before: before && parseDocument(before.document),
      after: parseDocument(after.document),
      ...(storage.codec !== undefined && { storage }),
    };
  }
  throw permanent("sk: the stream's filter should have left this record out");
}

/** Whether a readiness is a user's, not an account's. */
function isUser(readiness: unknown): boolean {
  return parseSubject(fieldsOf(readiness, "readiness").subject).kind === "user";
}

/** Lambda passes bytes as base64, and so does `writeChange`. */
function withBytes(document: Fields): Fields {
  const { content } = document;
  return typeof content === "string" ? { ...document, content: Buffer.from(content, "base64") } : document;
}

function readImage(image: Record<string, unknown> | undefined): Fields | undefined {
  if (image === undefined) return undefined;
  // The relay does not need an event's body, which is most of its item.
  const { body: _, ...read } = image;
  // Our own writes made the image; unmarshall throws on anything that is not an attribute value.
  return readItem(read as Record<string, AttributeValue>);
}

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
 * again replaces their object. See `undelivered-changes.ts`.
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

/** Longer than the stream keeps a record. */
const markTtlSeconds = 2 * 86_400;

/** Counts how often a stream record crashed the process that handled it. */
export function recordMarks(client: DynamoDBClient, TableName: string, now: () => Date) {
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
    /** Marks a record before it is handled. @returns how many marks it already had */
    add: async (sequenceNumber: string) =>
      (await update(sequenceNumber, "SET expiresAt = :end ADD marks :marks", 1)) - 1,
    /** Clears a record's marks after it was handled, successfully or not. */
    clear: async (sequenceNumber: string) =>
      void (await update(sequenceNumber, "SET expiresAt = :end, marks = :marks", 0)),
  };
}
