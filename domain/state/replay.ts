import { claimOf, type IncomeEvent, type LastChange, type Outcome, subjectKindOf } from "../event/events.ts";
import { isHistoryFull, isProcessed, type Receipts } from "../event/receipts.ts";
import {
  type MessageOrigin,
  messageOfDocument,
  messageOfEndpointEvent,
  messageOfReadiness,
  messageOfStale,
  messageOfState,
  messageOfUserReadiness,
  wants,
} from "../message/message.ts";
import type { Message } from "../message/message-schemas.ts";
import type { Change } from "./change.ts";
import type { State } from "./state.ts";

/** Selects messages to replay. An absent field matches all. */
export type ReplaySelection = {
  /** A message type, or a prefix that ends in `*`, as for subscribers. */
  readonly type?: string;
  /** When an event was received or the provider answered, ISO 8601; `until` is exclusive. */
  readonly since?: string;
  readonly until?: string;
};

/** A message to send again and the time of what it reports. */
export type ReplayedMessage = { readonly message: Message; readonly timestamp: string };

export function isSelected(
  { type, since, until }: ReplaySelection,
  replayed: { readonly type: string; readonly timestamp: string },
): boolean {
  return (
    (type === undefined || wants({ name: "", types: [type] }, replayed.type)) &&
    (since === undefined || replayed.timestamp >= since) &&
    (until === undefined || replayed.timestamp < until)
  );
}

/**
 * An event's message. That of an endpoint event is unchanged; others have their subject's current `sequence`
 * and state.
 * @returns undefined if the event is not processed yet, because its message will still be sent
 */
export function replayEvent(
  { event, receipts }: { readonly event: IncomeEvent; readonly receipts: Receipts },
  state: State | undefined,
  source: string,
): ReplayedMessage | undefined {
  if (subjectKindOf(event.type) !== "endpoint") return state && replayStateEvent(event, state, source);
  return { message: messageOfEndpointEvent(event, receipts, source), timestamp: event.receivedAt };
}

/** An event's message, from the state that processed it. @returns undefined if the state has not */
export function replayStateEvent(
  event: IncomeEvent,
  state: State,
  source: string,
): ReplayedMessage | undefined {
  const hasProcessed = isProcessed(state.processed, event) || isHistoryFull(state.processed);
  const message = hasProcessed ? messageOfState(replayState(state, event), source) : undefined;
  return message && { message, timestamp: event.receivedAt };
}

/** A record's messages that belong to no stored event: the provider's answers, documents and readiness. */
export function replayRecord(
  change: Exclude<Change, { type: "event" }>,
  origin: MessageOrigin,
): readonly ReplayedMessage[] {
  switch (change.type) {
    case "state": {
      const { after } = change;
      const message = after.latest.cause === "answer" ? messageOfState(after, origin.source) : undefined;
      return message === undefined ? [] : [{ message, timestamp: message.time }];
    }
    case "readiness": {
      const { after } = change;
      const messages = [
        ...(after.announced === undefined ? [] : [messageOfReadiness(after, origin)]),
        ...(after.stale === undefined ? [] : [messageOfStale(after, origin.source)]),
      ];
      return messages.map((message) => ({ message, timestamp: message.time }));
    }
    case "userReadiness": {
      if (change.after.accounts.length === 0) return [];
      const message = messageOfUserReadiness(change.after, origin.source);
      return [{ message, timestamp: message.time }];
    }
    case "document": {
      if (change.after.announced === undefined) return [];
      const message = messageOfDocument(change.after, origin);
      return [{ message, timestamp: message.time }];
    }
  }
}

/** The event that a state announces. It may outlive the event's own item. */
export function latestEventOf({ latest }: Pick<State, "latest">): IncomeEvent | undefined {
  return latest.cause === "event" ? latest.event : undefined;
}

/**
 * Rebuilds a message that a record has already published. It has the event's id and content with the record's
 * current `sequence` and state, so that the order by `sequence` stays right.
 */

/** The state with an event that it has processed as its last change. */
export function replayState(state: State, event: IncomeEvent): State {
  return isLatest(state.latest, event)
    ? state
    : { ...state, latest: { cause: "event", event, outcome: outcomeNow(state, event) } };
}

export function isLatest(latest: LastChange, event: IncomeEvent): boolean {
  return latest.cause === "event" && latest.event.id === event.id;
}

/** The outcome of an old event against the current state: `agreed` if its claim still holds. */
function outcomeNow(state: State, event: IncomeEvent): Outcome {
  if (state.unconfirmed) return "unconfirmed";
  const { deleted, connected = state.connected } = claimOf(event);
  return deleted === state.deleted && connected === state.connected ? "agreed" : "stale";
}
