import { permanent } from "../core/failures.ts";
import { type Fields, fieldsOf, optionalText, present, textOf } from "../core/parse.ts";
import { type IncomeEvent, parseEvent } from "../event/events.ts";

/**
 * How an event was processed: `applied`, `agreed` (nothing new), `stale` (older than what is known), or
 * `unconfirmed` (it contradicts what is known and no time says which is newer: the provider is asked).
 */
export const outcomes = ["applied", "agreed", "stale", "unconfirmed"] as const;
export type Outcome = (typeof outcomes)[number];

/**
 * Why a record stands at its present version: what the relay publishes is read from here alone. `correlationId` is the
 * id of what led to it, see `correlationOf`; absent where an earlier release wrote it.
 */
export type LastChange =
  | { readonly cause: "event"; readonly event: IncomeEvent; readonly outcome: Outcome }
  /** Bytes received again, or something else that has no message of its own. */
  | { readonly cause: "again"; readonly correlationId?: string }
  /** The provider's answer, ISO 8601. */
  | { readonly cause: "answer"; readonly at: string; readonly correlationId?: string };

/** @throws permanent failure naming the field */
export function parseLastChange(value: unknown): LastChange {
  const fields = fieldsOf(value, "latest");
  const correlation = present({ correlationId: optionalText(fields, "correlationId") });
  switch (fields.cause) {
    case "event":
      return { cause: "event", event: parseEvent(fields.event), outcome: parseOutcome(fields.outcome) };
    case "again":
      return { cause: "again", ...correlation };
    case "answer":
      return { cause: "answer", at: textOf(fields, "at"), ...correlation };
    default:
      throw permanent("latest.cause: expected event, again or answer");
  }
}

/**
 * The id under which all that follows from one cause is found, in logs and in subscribers' messages: that of the event,
 * or of the run of reconciliation, which made the record what it is.
 */
export function correlationOf(latest: LastChange): string | undefined {
  return latest.cause === "event" ? latest.event.id : latest.correlationId;
}

/** When a record was reported what it announces; undefined where it says nothing. */
export function changedAt(latest: LastChange): string | undefined {
  switch (latest.cause) {
    case "event":
      return latest.event.receivedAt;
    case "answer":
      return latest.at;
    case "again":
      return undefined;
  }
}

/** Whether two versions of a record have the same message, or both none. */
export function haveSameMessage(one: LastChange, other: LastChange): boolean {
  if (one.cause === "event") return other.cause === "event" && one.event.id === other.event.id;
  return one.cause === other.cause;
}

function parseOutcome(value: unknown): Outcome {
  const outcome = outcomes.find((known) => known === value);
  if (outcome === undefined) throw permanent("latest.outcome: expected a known outcome");
  return outcome;
}

/**
 * Keys of the receipts that a record has processed lately. The relay is at least once: with these, a batch that
 * comes again changes nothing. Not kept, for it would cost a write, is a receipt that changed nothing: bytes
 * received again that agreed. Such a one, and one older than the last twenty, is processed again, which at worst
 * asks the provider once more.
 */
export type ProcessedReceipts = readonly string[];
const maxReceipts = 20;

/** A key is one receipt of one event: a prefix of its digest, and how often it had been received. */
export function receiptKey(event: IncomeEvent, receipts: number): string {
  return `${receiptKeyPrefix(event)}${receipts}`;
}

/** Whether any receipt of an event is among those processed lately. */
export function isProcessed(receipts: ProcessedReceipts, event: IncomeEvent): boolean {
  return receipts.some((key) => key.startsWith(receiptKeyPrefix(event)));
}

/** Whether a receipt of the event was processed last of all. */
export function isProcessedLast(receipts: ProcessedReceipts, event: IncomeEvent): boolean {
  return receipts.at(-1)?.startsWith(receiptKeyPrefix(event)) === true;
}

/** Whether so many were processed that the first of them are forgotten. */
export function isHistoryFull(receipts: ProcessedReceipts): boolean {
  return receipts.length >= maxReceipts;
}

function receiptKeyPrefix(event: IncomeEvent): string {
  return `${event.id.slice(0, 16)}.`;
}

export function addReceipt(receipts: ProcessedReceipts, key: string): ProcessedReceipts {
  return [...receipts, key].slice(-maxReceipts);
}

/** @throws permanent failure naming the field */
export function parseProcessedReceipts(fields: Fields): ProcessedReceipts {
  const { processed } = fields;
  if (!Array.isArray(processed)) throw permanent("processed: expected a list");
  return processed.map(String);
}
