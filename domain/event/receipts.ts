import { fieldsOf, numberOf, textOf } from "../core/parse.ts";
import { type IncomeEvent, isUnordered } from "./events.ts";
import { nameOf, ownerOf } from "./subjects.ts";

/** An SQS message that carried an event: its id, and when it was sent (SQS's `SentTimestamp`, milliseconds since 1970). */
export type EventMessage = { readonly id: string; readonly sentAt: number };

/** All messages of a batch that carried the same event, the earliest first. */
export type MergedReceipt<T> = {
  /** What the earliest message held. */
  readonly receipt: T;
  readonly messages: readonly [EventMessage, ...EventMessage[]];
};

/** What is stored of an event's receipts; it changes as a whole, under the condition that it is still as it was read. */
export type Receipts = {
  /** How often the event was received; for one with its own id or time always 1. */
  readonly count: number;
  /** Ids of the messages that carried the event first and last: SQS delivering one of them again is no new receipt. */
  readonly first: string;
  readonly last: string;
  /** When the first message was sent: the sequence of the event's own message. */
  readonly firstAt: number;
  /** A document read before this lacks what the latest receipt may have announced. */
  readonly since: number;
};

/**
 * Merges the messages of a batch that carry the same event: a batch of statements may hold each key once.
 * @param read the event and the message of a receipt
 */
export function mergeReceipts<T>(
  receipts: readonly T[],
  read: (receipt: T) => { readonly event: IncomeEvent; readonly message: EventMessage },
): readonly MergedReceipt<T>[] {
  const byKey = new Map<string, Map<string, { readonly receipt: T; readonly message: EventMessage }>>();
  for (const receipt of receipts) {
    const { event, message } = read(receipt);
    const key = `${event.id} ${nameOf(ownerOf(event))}`;
    const messages = byKey.get(key) ?? new Map();
    messages.set(message.id, { receipt, message });
    byKey.set(key, messages);
  }
  return [...byKey.values()].flatMap((messages) => {
    const sorted = [...messages.values()].sort((one, other) => bySending(one.message, other.message));
    const [first, ...others] = sorted;
    if (first === undefined) return [];
    return [{ receipt: first.receipt, messages: [first.message, ...others.map(({ message }) => message)] }];
  });
}

function bySending(one: EventMessage, other: EventMessage): number {
  if (one.sentAt !== other.sentAt) return one.sentAt - other.sentAt;
  return one.id < other.id ? -1 : 1;
}

/** What is inserted for an event that is not stored yet. */
export function firstReceipts(
  event: IncomeEvent,
  { messages }: Pick<MergedReceipt<unknown>, "messages">,
): Receipts {
  const [first] = messages;
  const last = messages.at(-1) ?? first;
  const known = { first: first.id, firstAt: first.sentAt };
  // With its own id or time, what comes again is a retry of the first.
  if (!isUnordered(event)) return { ...known, count: 1, last: first.id, since: first.sentAt };
  return { ...known, count: messages.length, last: last.id, since: last.sentAt };
}

/**
 * Counts what was received again of an event that has neither id nor time: each receipt may be a true repeat.
 * @returns undefined where SQS delivered messages again that are counted already
 */
export function countReceipts(
  known: Receipts,
  { messages }: Pick<MergedReceipt<unknown>, "messages">,
): Receipts | undefined {
  const fresh = messages.filter(({ id }) => id !== known.first && id !== known.last);
  const last = fresh.at(-1);
  if (last === undefined) return undefined;
  return {
    ...known,
    count: known.count + fresh.length,
    last: last.id,
    since: Math.max(known.since, last.sentAt),
  };
}

/**
 * Which receipts a write of the event is to be processed as: the first, and the last of those that came with it or
 * since. Those between say nothing that the last does not.
 * @param before how often it had been received before the write, 0 where it was inserted
 */
export function receiptsToProcess(before: number, after: number): readonly number[] {
  if (after <= before) return [];
  return before === 0 && after > 1 ? [1, after] : [after];
}

/** @throws permanent failure naming the field */
export function parseReceipts(value: unknown): Receipts {
  const fields = fieldsOf(value, "receipts");
  return {
    count: numberOf(fields, "count"),
    first: textOf(fields, "first"),
    last: textOf(fields, "last"),
    firstAt: numberOf(fields, "firstAt"),
    since: numberOf(fields, "since"),
  };
}
