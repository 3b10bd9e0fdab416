import { type IncomeEvent, subjectKindOf } from "../event/events.ts";
import type { Receipts } from "../event/receipts.ts";
import {
  type MessageOrigin,
  messageOfDocument,
  messageOfEndpointEvent,
  messageOfState,
} from "../message/message.ts";
import type { Message } from "../message/message-schemas.ts";
import { messageOfReadiness } from "../message/readiness-message.ts";
import { wants } from "../message/subscribers.ts";
import type { Change } from "./change.ts";
import { isHistoryFull, isProcessed } from "./last-change.ts";
import { replayState } from "./replay-message.ts";
import type { State } from "./state.ts";

/** Which messages are replayed; what is absent does not matter. */
export type ReplaySelection = {
  /** A message type, or a prefix that ends in `*`, as subscribers have it. */
  readonly type?: string;
  /** Events by when they were received, answers of the provider by when they came; ISO 8601, `until` excluded. */
  readonly since?: string;
  readonly until?: string;
};

/** A message as it is sent again, and when what it reports came. */
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
 * An event's message: of an endpoint as it was, else with the `sequence` and the state of its subject as it stands now.
 * @returns undefined where nothing has followed the event yet: its message is still to come by itself
 */
export function replayEvent(
  { event, receipts }: { readonly event: IncomeEvent; readonly receipts: Receipts },
  state: State | undefined,
  source: string,
): ReplayedMessage | undefined {
  if (subjectKindOf(event.type) !== "endpoint") return state && replayStateEvent(event, state, source);
  return { message: messageOfEndpointEvent(event, receipts, source), timestamp: event.receivedAt };
}

/** An event's message, from the state that has processed it. @returns undefined where it has not */
export function replayStateEvent(
  event: IncomeEvent,
  state: State,
  source: string,
): ReplayedMessage | undefined {
  const hasProcessed = isProcessed(state.processed, event) || isHistoryFull(state.processed);
  const message = hasProcessed ? messageOfState(replayState(state, event), source) : undefined;
  return message && { message, timestamp: event.receivedAt };
}

/** What a record reports beside the events that are stored: the provider's answers, and what its data is. */
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
      if (change.after.announced === undefined) return [];
      const message = messageOfReadiness(change.after, origin);
      return [{ message, timestamp: message.time }];
    }
    case "document": {
      if (change.after.announced === undefined) return [];
      const message = messageOfDocument(change.after, origin);
      return [{ message, timestamp: message.time }];
    }
  }
}

/** The event that a state announces, which may outlive the event's own item. */
export function latestEventOf({ latest }: Pick<State, "latest">): IncomeEvent | undefined {
  return latest.cause === "event" ? latest.event : undefined;
}
