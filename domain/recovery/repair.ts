import { present } from "../core/parse.ts";
import { correlationOf, isUnordered, type LastChange } from "../event/events.ts";
import { receiptKey } from "../event/receipts.ts";
import type { Document } from "../fetch/document.ts";
import { statusOf } from "../readiness/readiness.ts";
import type { AccountReadiness, UserReadiness } from "../readiness/stored-readiness.ts";
import type { Change } from "../state/change.ts";
import { replayState } from "../state/replay.ts";
import type { State } from "../state/state.ts";

type ChangeOf<Of extends Change["type"]> = Extract<Change, { type: Of }>;

/**
 * Derives changes that, when relayed again, restore lost consequences of stored items. They are safe to
 * repeat: messages have the same ids, tasks are skipped, links are unchanged. A receipt whose key was dropped
 * is processed again, which at worst queries the provider or reads data once more.
 */

/** The stored items to repair, by when they were received or answered, ISO 8601; absent: all. */
export type Period = { readonly since?: string; readonly until?: string };

export function isWithin({ since, until }: Period, timestamp: string): boolean {
  return (since === undefined || timestamp >= since) && (until === undefined || timestamp < until);
}

/** Repeats count only if they may be true repeats. */
function isRepeated({ event, receipts }: ChangeOf<"event">): boolean {
  return receipts.count > 1 && isUnordered(event);
}

/**
 * The changes for an event and its latest repeat.
 * @param state current state of its subject; undefined for an endpoint event or an unknown subject
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
 * The changes for a state: its tasks and links, and the provider's answer if that is its latest change.
 * Events are announced by their own items.
 * @param isRead whether a document was read since the current version, so that no start is needed
 */
export function repairsOfState(state: State, isRead: boolean): readonly Change[] {
  // Without the previous user the link is written again, and without the connection it is tracked again. The
  // previous state stays connected, so that no fetch starts.
  const { userId: _, connection: __, ...before } = { ...state, version: state.version - 1 };
  const after = state.latest.cause === "event" ? withoutCause(state) : state;
  return [{ type: "state", before: isRead ? before : undefined, after }];
}

/** The changes for stored data. Data that is still to be read follows from the events that announced it. */
export function repairsOfDocument(document: Document): readonly Change[] {
  return [{ type: "document", before: undefined, after: document }];
}

/** The changes for an account's last announcement, and for its deadline if the account is still waiting. */
export function repairsOfReadiness(readiness: AccountReadiness): readonly Change[] {
  return [{ type: "readiness", before: undefined, after: readiness }];
}

/** The changes for the last announcement about a user's accounts. */
export function repairsOfUserReadiness(readiness: UserReadiness): readonly Change[] {
  return [{ type: "userReadiness", before: undefined, after: readiness }];
}

/** Outstanding work is repaired whatever its age, because nothing records when its task was lost. */
export function needsRepair(change: Change, period: Period): boolean {
  switch (change.type) {
    case "event":
      // Nothing records when bytes were received again.
      return isWithin(period, change.event.receivedAt) || isRepeated(change);
    case "state":
      return change.after.unconfirmed || isAnnouncedWithin(change.after.latest, period);
    case "readiness": {
      const { announced, stale } = change.after;
      const isWaiting = statusOf(change.after) === "waiting";
      const times = [announced, stale].flatMap((each) => (each === undefined ? [] : [each.at]));
      return isWaiting || times.some((at) => isWithin(period, new Date(at).toISOString()));
    }
    case "userReadiness":
      return isWithin(period, new Date(change.after.at).toISOString());
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

/** The state without its own message, so that a version with another cause follows as a change. */
function withoutCause(state: State): State {
  return {
    ...state,
    latest: { cause: "again", ...present({ correlationId: correlationOf(state.latest) }) },
  };
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
