import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { type Failure, failureOf, retryable } from "../../domain/core/failures.ts";
import type { Body } from "../../domain/event/envelope.ts";
import { type IncomeEvent, isUnordered } from "../../domain/event/events.ts";
import {
  countReceipts,
  type EventMessage,
  firstReceipts,
  type MergedReceipt,
  mergeReceipts,
  parseReceipts,
  type Receipts,
} from "../../domain/event/receipts.ts";
import { ownerOf } from "../../domain/event/subjects.ts";
import { batchingReader, type ReadKey } from "./batching-reader.ts";
import { batchingWriter, type WriteItem } from "./batching-writer.ts";
import { canaryKey, eventKey, itemVersion, type Key, linkKey } from "./keys.ts";

/** @returns a function that links an account to its user. Idempotent. */
export function linkTable(write: WriteItem) {
  return async (userId: string, accountId: string): Promise<void> => {
    const attributes = { schemaVersion: itemVersion };
    await write({ type: "insert", key: linkKey(userId, accountId), attributes });
  };
}

/** One receipt of an event: the event, its body (credentials removed) and the message that carried it. */
export type Receipt = { readonly event: IncomeEvent; readonly body: Body; readonly message: EventMessage };

/** Whether a receipt was the event's first, or why it was not stored. */
export type ReceiptOutcome = "first" | "duplicate" | Failure;

type Merged = MergedReceipt<Receipt>;

const secondsPerDay = 86_400;
/** Few writers update one event's counter concurrently, since duplicates within a batch are merged. */
const maxAttempts = 8;

/** The recorder of receipts for a table. */
export function eventTable(client: DynamoDBClient, tableName: string, retentionInDays: number) {
  const attributes = ["pk", "sk", "schemaVersion", "receipts"];
  const ports = {
    write: batchingWriter(client, tableName),
    readEventually: batchingReader(client, tableName, { attributes, isEventual: true }),
    readConsistently: batchingReader(client, tableName, { attributes }),
  };
  return receiptRecorder(ports, retentionInDays);
}

/**
 * Records receipts with one write per event (see docs/adr/0001). The write is an insert, which fails for a known
 * event. Where the same bytes may be a real repeat, it reads the item first and updates its count. `expiresAt` is the
 * time to live in epoch seconds.
 * @param readEventually may miss recent writes
 * @returns a function that records receipts, and returns the outcome of each, in order
 */
export function receiptRecorder(
  {
    write,
    readEventually,
    readConsistently,
  }: { readonly write: WriteItem; readonly readEventually: ReadKey; readonly readConsistently: ReadKey },
  retentionInDays: number,
) {
  const insert = ({ receipt: { event, body }, messages }: Merged) => {
    const receivedAt = Math.floor(Date.parse(event.receivedAt) / 1000);
    return write({
      type: "insert",
      key: keyOf(event),
      attributes: {
        event,
        body,
        receipts: firstReceipts(event, { messages }),
        expiresAt: receivedAt + Math.round(retentionInDays * secondsPerDay),
        schemaVersion: itemVersion,
      },
    });
  };

  const recordUnordered = async (merged: Merged): Promise<"first" | "duplicate"> => {
    const key = keyOf(merged.receipt.event);
    let stored = await receiptsOf(readEventually, key);
    for (let attempts = 0; attempts < maxAttempts; attempts += 1) {
      if (stored === undefined) {
        if ((await insert(merged)) === "written") return "first";
      } else {
        const updated = countReceipts(stored, merged);
        if (updated === undefined || (await count(write, key, stored, updated)) === "written")
          return "duplicate";
      }
      // Another writer was faster, or the eventual read was stale.
      stored = await receiptsOf(readConsistently, key);
    }
    throw retryable("event contended", 1);
  };

  const record = async (merged: Merged): Promise<"first" | "duplicate"> => {
    if (isUnordered(merged.receipt.event)) return recordUnordered(merged);
    return (await insert(merged)) === "written" ? "first" : "duplicate";
  };

  return async (receipts: readonly Receipt[]): Promise<readonly ReceiptOutcome[]> => {
    const outcomes = new Map<string, ReceiptOutcome>();
    const recordAll = mergeReceipts(receipts).map(async (merged) => {
      const outcome = await record(merged).catch(failureOf);
      for (const [index, message] of merged.messages.entries()) {
        const name = nameOfReceipt({ ...merged.receipt, message });
        outcomes.set(name, outcome === "first" && index > 0 ? "duplicate" : outcome);
      }
    });
    await Promise.all(recordAll);
    return receipts.map((receipt) => outcomes.get(nameOfReceipt(receipt)) ?? failureOf(undefined));
  };
}

/** A message may carry several events, and several messages may carry the same event. */
function nameOfReceipt({ event, message }: Receipt): string {
  return JSON.stringify([keyOf(event), message.id]);
}

function keyOf(event: IncomeEvent): Key {
  return eventKey(ownerOf(event), event.id);
}

async function receiptsOf(read: ReadKey, key: Key): Promise<Receipts | undefined> {
  const item = await read(key);
  return item && parseReceipts(item.receipts);
}

/**
 * Updates the count if it has not changed since the read. `last` distinguishes an event that was erased and received
 * anew.
 */
function count(write: WriteItem, key: Key, stored: Receipts, updated: Receipts) {
  return write({
    type: "update",
    key,
    attribute: "receipts",
    value: updated,
    where: [
      { path: ["receipts", "count"], operator: "=", value: stored.count },
      { path: ["receipts", "last"], operator: "=", value: stored.last },
    ],
  });
}

const canarySeconds = 86_400;

/** Stores a canary, which the stream then reports. Idempotent. */
export function canaryTable(write: WriteItem, now: () => Date) {
  return async (id: string): Promise<void> => {
    const expiresAt = Math.floor(now().getTime() / 1_000) + canarySeconds;
    await write({
      type: "insert",
      key: canaryKey(id),
      attributes: { schemaVersion: itemVersion, expiresAt },
    });
  };
}
