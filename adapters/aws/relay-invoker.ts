import type { LambdaClient } from "@aws-sdk/client-lambda";
import { marshall } from "@aws-sdk/util-dynamodb";
import { batchesOf } from "../../domain/core/batches.ts";
import { FailureError, permanent } from "../../domain/core/failures.ts";
import { type Fields, fieldsOf, present, textOf } from "../../domain/core/parse.ts";
import { ownerOf } from "../../domain/event/subjects.ts";
import type { Change } from "../../domain/state/change.ts";
import { documentKey, eventKey, itemVersion, readinessKey, stateKey } from "../dynamodb/keys.ts";
import type { StreamRecord } from "../streams/change-stream.ts";
import { invokeFunction } from "./client.ts";

/** A record that the relay can't process, with the reason if it reported one. */
export type FailedRecord = { readonly record: StreamRecord; readonly reason: string };
export type RelayRecords = (records: readonly StreamRecord[]) => Promise<readonly FailedRecord[]>;

/** Small enough for the function's timeout even if each record takes a write, and for Lambda's limit of 6 MB. */
const batchLimits = {
  maxItems: 50,
  maxBytes: 4_000_000,
  bytesOf: (record: StreamRecord) => Buffer.byteLength(JSON.stringify(record)),
};
const maxAttempts = 2;
/** If this many records fail in a row from the start, the relay itself fails, not the records. */
const maxFailuresInARow = 5;

/**
 * Invokes the relay function with records, in order, as Lambda does for the stream. A record that fails twice is
 * reported and skipped.
 * @throws permanent failure with the relay's reason if the first `maxFailuresInARow` records all fail
 */
export function relayInvoker(client: LambdaClient, functionName: string): RelayRecords {
  let isProven = false;
  let failuresInARow = 0;
  const invoke = async (records: readonly StreamRecord[]): Promise<Outcome> => {
    const outcome = await invokeOnce(client, functionName, records);
    isProven ||= outcome.type === "relayed" || (outcome.type === "failed" && outcome.at > 0);
    return outcome;
  };
  const giveUp = (record: StreamRecord, reason: string): FailedRecord => {
    failuresInARow += 1;
    if (!isProven && failuresInARow === maxFailuresInARow)
      throw permanent(`the relay fails for every record: ${reason}`);
    return { record, reason };
  };
  const relay = async (records: readonly StreamRecord[], attempts = 1): Promise<readonly FailedRecord[]> => {
    if (records.length === 0) return [];
    const outcome = await invoke(records);
    if (outcome.type === "relayed") return [];
    if (outcome.type === "crashed" && records.length > 1) {
      const middle = Math.ceil(records.length / 2);
      return [...(await relay(records.slice(0, middle))), ...(await relay(records.slice(middle)))];
    }
    const at = outcome.type === "failed" ? outcome.at : 0;
    if (at > 0) return relay(records.slice(at), 2);
    const [first, ...others] = records;
    if (first === undefined || attempts < maxAttempts) return relay(records, attempts + 1);
    return [giveUp(first, outcome.reason), ...(await relay(others))];
  };
  return async (records) => {
    const failed: FailedRecord[] = [];
    for (const batch of batchesOf(records, batchLimits)) failed.push(...(await relay(batch)));
    return failed;
  };
}

/**
 * `failed`: the record at index `at` failed, and perhaps later ones. `crashed`: the result of every record is
 * unknown.
 */
type Outcome =
  | { readonly type: "relayed" }
  | { readonly type: "failed"; readonly at: number; readonly reason: string }
  | { readonly type: "crashed"; readonly reason: string };

async function invokeOnce(
  client: LambdaClient,
  functionName: string,
  records: readonly StreamRecord[],
): Promise<Outcome> {
  try {
    return readOutcome(
      await invokeFunction(client, functionName, { Records: records, parks: false }),
      records,
    );
  } catch (error) {
    // The function itself failed. Errors of the invocation go to the caller.
    if (error instanceof FailureError) return { type: "crashed", reason: error.failure.reason };
    throw error;
  }
}

function readOutcome(value: unknown, records: readonly StreamRecord[]): Outcome {
  const { batchItemFailures } = fieldsOf(value, "the relay's answer");
  const failures: readonly unknown[] = Array.isArray(batchItemFailures) ? batchItemFailures : [];
  if (failures.length === 0) return { type: "relayed" };
  const ids = failures.map((failure) => textOf(fieldsOf(failure, "the relay's answer"), "itemIdentifier"));
  const at = records.findIndex(({ dynamodb }) => ids.includes(dynamodb?.SequenceNumber ?? ""));
  return { type: "failed", at: Math.max(0, at), reason: "see RECORD_FAILED in the relay's log" };
}

/** A change that the relay can't process, with the reason if it reported one. */
export type FailedChange = { readonly change: Change; readonly reason: string };

/** Relays changes that no stream announces. Their sequence numbers, which appear in the relay's log, count from 1. */
export function changeRelay(relay: RelayRecords) {
  let count = 0;
  return async (changes: readonly Change[]): Promise<readonly FailedChange[]> => {
    const records = changes.map((change) => {
      count += 1;
      return writeChange(change, `repair-${count}`);
    });
    const changeOf = new Map(records.map((record, index) => [record, changes[index]]));
    return (await relay(records)).flatMap(({ record, reason }) => {
      const change = changeOf.get(record);
      return change === undefined ? [] : [{ change, reason }];
    });
  };
}

/** Writes a change as a stream record, for the relay. */
export function writeChange(change: Change, sequenceNumber: string): StreamRecord {
  const [before, after] = imagesOf(change);
  return {
    dynamodb: {
      SequenceNumber: sequenceNumber,
      ...(before && { OldImage: imageOf(before) }),
      NewImage: imageOf(after),
    },
  };
}

function imagesOf(change: Change): readonly [before: Fields | undefined, after: Fields] {
  switch (change.type) {
    case "event": {
      const { event, receipts, countBefore } = change;
      const item = { ...eventKey(ownerOf(event), event.id), event };
      const before = { ...item, receipts: { ...receipts, count: countBefore } };
      return [countBefore === 0 ? undefined : before, { ...item, receipts }];
    }
    case "state": {
      const { before, after } = change;
      const key = stateKey(after.subject);
      return [before && { ...key, state: before }, { ...key, state: after }];
    }
    case "readiness":
    case "userReadiness": {
      const { before, after } = change;
      const key = readinessKey(after.subject);
      return [before && { ...key, readiness: before }, { ...key, readiness: after }];
    }
    case "document": {
      const { before, after, storage } = change;
      const key = documentKey(after.subject, after);
      const content = storage?.content && Buffer.from(storage.content).toString("base64");
      const document = { ...after, ...storage, ...present({ content }) };
      return [before && { ...key, document: before }, { ...key, document }];
    }
  }
}

function imageOf(item: Fields): Record<string, unknown> {
  return marshall({ ...item, schemaVersion: itemVersion }, { removeUndefinedValues: true });
}
