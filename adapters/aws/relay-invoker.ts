import type { LambdaClient } from "@aws-sdk/client-lambda";
import { batchesOf } from "../../domain/core/batches.ts";
import { FailureError, permanent } from "../../domain/core/failures.ts";
import { fieldsOf, textOf } from "../../domain/core/parse.ts";
import type { Change } from "../../domain/state/change.ts";
import { type StreamRecord, writeChange } from "../streams/change-stream.ts";
import { invokeFunction } from "./function-invoker.ts";

/** A record that the relay can't relay, with the reason where it reported one. */
export type FailedRecord = { readonly record: StreamRecord; readonly reason: string };
export type RelayRecords = (records: readonly StreamRecord[]) => Promise<readonly FailedRecord[]>;

/** Few enough for the function's time even where each takes a write, and for the 6 MB of an invocation. */
const batchLimits = {
  maxItems: 50,
  maxBytes: 4_000_000,
  bytesOf: (record: StreamRecord) => Buffer.byteLength(JSON.stringify(record)),
};
const maxAttempts = 2;
/** So many records in a row, from the first on, are no poison: the relay itself fails. */
const maxFailuresInARow = 5;

/**
 * Has the relay's own function relay records, in order, as Lambda does with those of a stream. One that fails twice
 * is reported and left behind.
 * @throws permanent failure with the relay's reason where nothing at all can be relayed
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
      throw permanent(`the relay relays nothing: ${reason}`);
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

/** `failed`: the record there, and perhaps later ones. `crashed`: nothing is known of any. */
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
    // The function's own failure; what keeps it from being invoked is the caller's to know.
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
  return { type: "failed", at: Math.max(0, at), reason: "its log says why (RECORD_FAILED)" };
}

/** A change whose consequences the relay can't derive, with the reason where it reported one. */
export type Underived = { readonly change: Change; readonly reason: string };
export type RelayChanges = (changes: readonly Change[]) => Promise<readonly Underived[]>;

/** Has the relay relay changes that no stream announces. Their numbers, which its log names, count from 1. */
export function changeRelay(relay: RelayRecords): RelayChanges {
  let count = 0;
  return async (changes) => {
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
