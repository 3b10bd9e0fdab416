import { permanent } from "../core/failures.ts";
import { type Fields, fieldsOf, numberOf, textOf } from "../core/parse.ts";
import { type IncomeEvent, isUnordered } from "./events.ts";
import { nameOf, ownerOf } from "./subjects.ts";

/** An SQS message that carried an event. `sentAt` is its `SentTimestamp` in milliseconds since 1970. */
export type EventMessage = { readonly id: string; readonly sentAt: number };

/** All messages in a batch that carried the same event, earliest first. */
export type MergedReceipt<T> = {
  /** The content of the earliest message. */
  readonly receipt: T;
  readonly messages: readonly [EventMessage, ...EventMessage[]];
};

/**
 * The stored receipts of an event. A write replaces all fields, on condition that none has changed since the
 * read.
 */
export type Receipts = ReturnType<typeof parseReceipts>;

/** Merges messages in a batch that carry the same event, because a batch statement may contain each key once. */
export function mergeReceipts<T extends { readonly event: IncomeEvent; readonly message: EventMessage }>(
  receipts: readonly T[],
): readonly MergedReceipt<T>[] {
  const merged = new Map<string, MergedReceipt<T>>();
  for (const receipt of receipts.toSorted((one, other) => bySending(one.message, other.message))) {
    const { event, message } = receipt;
    const key = `${event.id} ${nameOf(ownerOf(event))}`;
    const known = merged.get(key);
    if (known === undefined) merged.set(key, { receipt, messages: [message] });
    else if (known.messages.at(-1)?.id !== message.id)
      merged.set(key, { ...known, messages: [...known.messages, message] });
  }
  return [...merged.values()];
}

function bySending(one: EventMessage, other: EventMessage): number {
  if (one.sentAt !== other.sentAt) return one.sentAt - other.sentAt;
  return one.id < other.id ? -1 : 1;
}

/** The receipts to insert for an event that is not stored yet. */
export function firstReceipts(
  event: IncomeEvent,
  { messages }: Pick<MergedReceipt<unknown>, "messages">,
): Receipts {
  const [first] = messages;
  const last = messages.at(-1) ?? first;
  const common = { first: first.id, firstAt: first.sentAt };
  // An event with its own id or time counts once, because repeats are retries.
  if (!isUnordered(event)) return { ...common, count: 1, last: first.id, since: first.sentAt };
  return { ...common, count: messages.length, last: last.id, since: last.sentAt };
}

/**
 * Counts new receipts of an event that has neither id nor time. Each of them may be a true repeat.
 * @returns undefined if SQS only redelivered messages that are already counted
 */
export function countReceipts(
  stored: Receipts,
  { messages }: Pick<MergedReceipt<unknown>, "messages">,
): Receipts | undefined {
  const fresh = messages.filter(({ id }) => id !== stored.first && id !== stored.last);
  const last = fresh.at(-1);
  if (last === undefined) return undefined;
  return {
    ...stored,
    count: stored.count + fresh.length,
    last: last.id,
    since: Math.max(stored.since, last.sentAt),
  };
}

/**
 * The receipts to process after a write of the event: the last one, and the first if the write inserted the
 * event. Receipts in between add nothing to the last.
 * @param before number of receipts before the write; 0 for an insert
 */
export function receiptsToProcess(before: number, after: number): readonly number[] {
  if (after <= before) return [];
  return before === 0 && after > 1 ? [1, after] : [after];
}

/** @throws permanent failure naming the field */
export function parseReceipts(value: unknown) {
  const fields = fieldsOf(value, "receipts");
  return {
    /** How often the event was received; always 1 for an event with its own id or time. */
    count: numberOf(fields, "count"),
    /** Ids of the first and the last message. If SQS delivers one of them again, that is not a new receipt. */
    first: textOf(fields, "first"),
    last: textOf(fields, "last"),
    /** When the first message was sent, in ms since 1970; the `sequence` of the event's own message. */
    firstAt: numberOf(fields, "firstAt"),
    /** When the last message was sent. A document read before may lack the data that this receipt announced. */
    since: numberOf(fields, "since"),
  } as const;
}

/**
 * Keys of the receipts that a record processed recently. The relay runs at least once, and these keys make a
 * repeated batch a no-op. A repeat that changes nothing is not recorded, to save a write. Such a repeat, or a
 * receipt older than the last twenty, is processed again, which at worst queries the provider once more.
 */
const maxReceipts = 20;

/** The key of one receipt: a prefix of the event's id and the number of the receipt. */
export function receiptKey(event: IncomeEvent, receipts: number): string {
  return `${receiptKeyPrefix(event)}${receipts}`;
}

/** Whether any receipt of an event was processed recently. */
export function isProcessed(receipts: readonly string[], event: IncomeEvent): boolean {
  return receipts.some((key) => key.startsWith(receiptKeyPrefix(event)));
}

/** Whether the last processed receipt is one of this event. */
export function isProcessedLast(receipts: readonly string[], event: IncomeEvent): boolean {
  return receipts.at(-1)?.startsWith(receiptKeyPrefix(event)) === true;
}

/** Whether the list is full, so that older receipts have been dropped. */
export function isHistoryFull(receipts: readonly string[]): boolean {
  return receipts.length >= maxReceipts;
}

function receiptKeyPrefix(event: IncomeEvent): string {
  return `${event.id.slice(0, 16)}.`;
}

export function addReceipt(receipts: readonly string[], key: string): readonly string[] {
  return [...receipts, key].slice(-maxReceipts);
}

/** @throws permanent failure naming the field */
export function parseProcessedReceipts(fields: Fields): readonly string[] {
  const { processed } = fields;
  if (!Array.isArray(processed)) throw permanent("processed: expected a list");
  return processed.map(String);
}
