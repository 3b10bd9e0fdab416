import { present } from "../core/parse.ts";
import { type IncomeEvent, isUnordered } from "../event/events.ts";
import type { DocumentRecord } from "../fetch/document.ts";
import type { Change } from "../state/change.ts";
import {
  changedAt,
  correlationOf,
  type LastChange,
  type ProcessedReceipts,
  receiptKey,
} from "../state/last-change.ts";
import { replayData, replayDocument, replayState } from "../state/replay-message.ts";
import type { State } from "../state/state.ts";

type ChangeOf<Of extends Change["of"]> = Extract<Change, { of: Of }>;

/**
 * Changes of the table that, relayed again, give whatever may have got lost of a stored item's consequences. All of
 * them are harmless where nothing was lost: messages come again with the same ids, tasks are void, links are as they
 * were. A receipt that is processed again because its key is forgotten changes no fact; at worst the provider is asked,
 * or data is read, once more.
 */

/** What the event is about, as it stands: a state, or for endpoint events a document. */
export type Known =
  | { readonly of: "state"; readonly state: State }
  | { readonly of: "data"; readonly document: DocumentRecord };

/** Which stored items a repair is about, by when they were received or answered, ISO 8601; absent: all. */
export type Period = { readonly since?: string; readonly until?: string };

export function isWithin({ since, until }: Period, timestamp: string): boolean {
  return (since === undefined || timestamp >= since) && (until === undefined || timestamp < until);
}

/** The same bytes again count only where they can be a true repeat. */
function isRepeated({ event, receipts }: ChangeOf<"event">): boolean {
  return receipts.count > 1 && isUnordered(event);
}

/** What an event leads to, and what its latest repeat does. */
export function repairsOfEvent(
  stored: ChangeOf<"event">,
  known: Known | undefined,
  period: Period,
): readonly Change[] {
  const { event, receipts } = stored;
  const { count } = receipts;
  const isProcessed = (receipt: number) => processedReceiptsOf(known).includes(receiptKey(event, receipt));
  const first: readonly Change[] = isProcessed(1)
    ? replayedChanges(known, event)
    : [
        {
          of: "event",
          event,
          receipts: { ...receipts, count: 1, last: receipts.first, since: receipts.firstAt },
          countBefore: 0,
        },
      ];
  return [
    ...(isWithin(period, event.receivedAt) ? first : []),
    ...(isRepeated(stored) && !isProcessed(count) ? [{ ...stored, countBefore: count - 1 }] : []),
  ];
}

/**
 * Its tasks and links, and the provider's answer if that is its latest; events are announced by their own items.
 * @param isFetched whether data of the subject was fetched since the state's present version: then a start is no news
 */
export function repairsOfState(state: State, isFetched: boolean): readonly Change[] {
  // Without its user before, the link is written again; already connected before, nothing is started.
  const { userId: _, ...before } = { ...state, version: state.version - 1 };
  return [{ of: "state", before: isFetched ? before : undefined, after: withoutMessage(state) }];
}

/** Its task where something is outstanding, and what is there of its data. */
export function repairsOfDocument(document: DocumentRecord): readonly Change[] {
  const isOutstanding = document.wanted > document.done;
  const data = replayData(document);
  return [
    ...(isOutstanding ? [{ of: "data", before: undefined, after: withoutMessage(document) } as const] : []),
    ...(data === undefined ? [] : [{ of: "data", before: withoutCause(document), after: data } as const]),
  ];
}

/** What is outstanding is repaired whenever it began: nothing says when its task got lost. */
export function needsRepair(change: Change, period: Period): boolean {
  switch (change.of) {
    case "event":
      // Nothing says when bytes came again.
      return isWithin(period, change.event.receivedAt) || isRepeated(change);
    case "state":
      return change.after.unconfirmed || isAnnouncedWithin(change.after.latest, period);
    case "data": {
      const { wanted, done, fetchedAt, latest } = change.after;
      const isFetchedWithin = fetchedAt !== undefined && isWithin(period, fetchedAt);
      return wanted > done || isFetchedWithin || isAnnouncedWithin(latest, period);
    }
  }
}

function isAnnouncedWithin(latest: LastChange, period: Period): boolean {
  const timestamp = changedAt(latest);
  return timestamp !== undefined && isWithin(period, timestamp);
}

function processedReceiptsOf(known: Known | undefined): ProcessedReceipts {
  if (known === undefined) return [];
  return known.of === "state" ? known.state.judged : known.document.judged;
}

function replayedChanges(known: Known | undefined, event: IncomeEvent): readonly Change[] {
  switch (known?.of) {
    case undefined:
      return [];
    case "state":
      return [{ of: "state", before: withoutCause(known.state), after: replayState(known.state, event) }];
    case "data":
      return [
        { of: "data", before: withoutCause(known.document), after: replayDocument(known.document, event) },
      ];
  }
}

/** Whatever it announces, a version that announces something else follows as news. */
function withoutCause<T extends { readonly latest: LastChange }>(record: T): T {
  return {
    ...record,
    latest: { cause: "again", ...present({ correlationId: correlationOf(record.latest) }) },
  };
}

function withoutMessage<T extends { readonly latest: LastChange }>(record: T): T {
  return record.latest.cause === "event" ? withoutCause(record) : record;
}
