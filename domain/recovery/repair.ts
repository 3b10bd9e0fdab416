import { present } from "../core/parse.ts";
import { isUnordered } from "../event/events.ts";
import type { Document } from "../fetch/document.ts";
import { type AccountReadiness, statusOf } from "../readiness/account-readiness.ts";
import type { Change } from "../state/change.ts";
import { changedAt, correlationOf, type LastChange, receiptKey } from "../state/last-change.ts";
import { replayState } from "../state/replay-message.ts";
import type { State } from "../state/state.ts";

type ChangeOf<Of extends Change["type"]> = Extract<Change, { type: Of }>;

/**
 * Changes of the table that, relayed again, give whatever may have got lost of a stored item's consequences. All of
 * them are harmless where nothing was lost: messages come again with the same ids, tasks are void, links are as they
 * were. A receipt that is processed again because its key is forgotten changes no fact; at worst the provider is asked,
 * or data is read, once more.
 */

/** Which stored items a repair is about, by when they were received or answered, ISO 8601; absent: all. */
export type Period = { readonly since?: string; readonly until?: string };

export function isWithin({ since, until }: Period, timestamp: string): boolean {
  return (since === undefined || timestamp >= since) && (until === undefined || timestamp < until);
}

/** The same bytes again count only where they can be a true repeat. */
function isRepeated({ event, receipts }: ChangeOf<"event">): boolean {
  return receipts.count > 1 && isUnordered(event);
}

/**
 * What an event leads to, and what its latest repeat does.
 * @param state of its subject, as it stands; undefined of an endpoint event, and where nothing is known
 */
export function repairsOfEvent(
  stored: ChangeOf<"event">,
  state: State | undefined,
  period: Period,
): readonly Change[] {
  const { event, receipts } = stored;
  const isProcessed = (receipt: number) => state?.processed.includes(receiptKey(event, receipt)) === true;
  const repeat: Change = { ...stored, countBefore: receipts.count - 1 };
  const repeats = isRepeated(stored) && !isProcessed(receipts.count) ? [repeat] : [];
  if (!isWithin(period, event.receivedAt)) return repeats;
  if (state === undefined || !isProcessed(1)) return [{ ...stored, countBefore: 0 }];
  return [{ type: "state", before: withoutCause(state), after: replayState(state, event) }, ...repeats];
}

/**
 * Its tasks and links, and the provider's answer if that is its latest; events are announced by their own items.
 * @param isRead whether a document of the subject was read since the state's present version: then a start is no news
 */
export function repairsOfState(state: State, isRead: boolean): readonly Change[] {
  // Without its user before, the link is written again, and without its connection that is followed; already connected
  // before, nothing is started.
  const { userId: _, connection: __, ...before } = { ...state, version: state.version - 1 };
  const after = state.latest.cause === "event" ? withoutCause(state) : state;
  return [{ type: "state", before: isRead ? before : undefined, after }];
}

/** What is there of its data; what is still to be read follows from the events that announced it. */
export function repairsOfDocument(document: Document): readonly Change[] {
  return [{ type: "document", before: undefined, after: document }];
}

/** What was announced of it last; while its account is waited for, also what ends the wait. */
export function repairsOfReadiness(readiness: AccountReadiness): readonly Change[] {
  return [{ type: "readiness", before: undefined, after: readiness }];
}

/** What is outstanding is repaired whenever it began: nothing says when its task got lost. */
export function needsRepair(change: Change, period: Period): boolean {
  switch (change.type) {
    case "event":
      // Nothing says when bytes came again.
      return isWithin(period, change.event.receivedAt) || isRepeated(change);
    case "state":
      return change.after.unconfirmed || isAnnouncedWithin(change.after.latest, period);
    case "readiness": {
      const { announced } = change.after;
      const isWaiting = statusOf(change.after) === "waiting";
      return isWaiting || (announced !== undefined && isWithin(period, new Date(announced.at).toISOString()));
    }
    case "document": {
      const { announced } = change.after;
      return announced !== undefined && isWithin(period, new Date(announced).toISOString());
    }
  }
}

function isAnnouncedWithin(latest: LastChange, period: Period): boolean {
  const timestamp = changedAt(latest);
  return timestamp !== undefined && isWithin(period, timestamp);
}

/** Whatever it announces, a version that announces something else follows as news. */
function withoutCause(state: State): State {
  return {
    ...state,
    latest: { cause: "again", ...present({ correlationId: correlationOf(state.latest) }) },
  };
}
