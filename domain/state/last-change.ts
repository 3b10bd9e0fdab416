import { permanent } from "../core/failures.ts";
import { type Fields, fieldsOf, optionalText, present, textOf } from "../core/parse.ts";
import { type IncomeEvent, parseEvent } from "../event/events.ts";

/**
 * How an event was processed: `applied`, `agreed` (nothing new), `stale` (older than the stored state), or
 * `unconfirmed` (it contradicts the stored state, no time tells which is newer, and the provider is queried).
 */
export const outcomes = ["applied", "agreed", "stale", "unconfirmed"] as const;
export type Outcome = (typeof outcomes)[number];

/**
 * Why a record has its current version. The relay builds messages from this alone. `correlationId` is the id
 * of the cause, see `correlationOf`; absent in records of an earlier release.
 */
export type LastChange =
  | { readonly cause: "event"; readonly event: IncomeEvent; readonly outcome: Outcome }
  /** A repeat of the same bytes, or another change without a message of its own. */
  | { readonly cause: "again"; readonly correlationId?: string }
  /** The provider's answer; `at` is ISO 8601. */
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
 * The id that links everything with one cause in logs and subscribers' messages: that of the event or
 * reconciliation run that last changed the record.
 */
export function correlationOf(latest: LastChange): string | undefined {
  return latest.cause === "event" ? latest.event.id : latest.correlationId;
}

/** When the last change was reported, ISO 8601; undefined if it announces nothing. */
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

/** Whether two versions of a record have the same message, or neither has one. */
export function haveSameMessage(one: LastChange, other: LastChange): boolean {
  if (one.cause === "event") return other.cause === "event" && one.event.id === other.event.id;
  return one.cause === other.cause;
}

function parseOutcome(value: unknown): Outcome {
  const outcome = outcomes.find((each) => each === value);
  if (outcome === undefined) throw permanent("latest.outcome: expected a known outcome");
  return outcome;
}

/**
 * Keys of the receipts that a record processed recently. The relay runs at least once, and these keys make a
 * repeated batch a no-op. A repeat that changes nothing is not recorded, to save a write. Such a repeat, or a
 * receipt older than the last twenty, is processed again, which at worst queries the provider once more.
 */
export type ProcessedReceipts = readonly string[];
const maxReceipts = 20;

/** The key of one receipt: a prefix of the event's id and the number of the receipt. */
export function receiptKey(event: IncomeEvent, receipts: number): string {
  return `${receiptKeyPrefix(event)}${receipts}`;
}

/** Whether any receipt of an event was processed recently. */
export function isProcessed(receipts: ProcessedReceipts, event: IncomeEvent): boolean {
  return receipts.some((key) => key.startsWith(receiptKeyPrefix(event)));
}

/** Whether the last processed receipt is one of this event. */
export function isProcessedLast(receipts: ProcessedReceipts, event: IncomeEvent): boolean {
  return receipts.at(-1)?.startsWith(receiptKeyPrefix(event)) === true;
}

/** Whether the list is full, so that older receipts have been dropped. */
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

export type Claim = { readonly deleted: boolean; readonly connected?: boolean };

export function claimOf(event: IncomeEvent): Claim {
  switch (event.type) {
    case "account.connected":
    case "company-account.connected":
      return { deleted: false, connected: true };
    case "account.disconnected":
    case "company-account.disconnected":
      return { deleted: false, connected: false };
    case "account.restored":
      return { deleted: false };
    case "user.deleted":
    case "account.deleted":
    case "company-account.deleted":
      return { deleted: true };
    case "account.created":
    case "company-account.created":
      // Creation precedes everything else in an account's life, so "not connected yet" contradicts nothing.
      return event.connected === true ? { deleted: false, connected: true } : { deleted: false };
    case "user.created":
    case "user.updated":
    case "account.updated":
    case "company-account.updated":
    case "endpoint.updated":
      return { deleted: false, ...present({ connected: event.connected }) };
  }
}
