import { documentOf, type SubjectRecords } from "../event/event-progress.ts";
import { type IncomeEvent, subjectKindOf } from "../event/events.ts";
import type { DocumentRecord } from "../fetch/document.ts";
import { messageOfDocument, messageOfState } from "../message/message.ts";
import type { Message } from "../message/message-schemas.ts";
import { wants } from "../message/subscribers.ts";
import type { Change } from "./change.ts";
import { changedAt, isHistoryFull, isProcessed, type ProcessedReceipts } from "./last-change.ts";
import { replayData, replayDocument, replayState } from "./replay-message.ts";
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
 * An event's message, with the `sequence` and the state of its subject as it stands now.
 * @returns undefined where nothing has followed the event yet: its message is still to come by itself
 */
export function replayEvent(
  event: IncomeEvent,
  { state, documents }: SubjectRecords,
  source: string,
): ReplayedMessage | undefined {
  const message =
    subjectKindOf(event.type) === "endpoint"
      ? ofDataSet(event, documentOf(event, documents), source)
      : ofState(event, state, source);
  return message && { message, timestamp: event.receivedAt };
}

function ofState(event: IncomeEvent, state: State | undefined, source: string): Message | undefined {
  if (state === undefined || !hasProcessed(state, event)) return undefined;
  return messageOfState(replayState(state, event), source);
}

function ofDataSet(
  event: IncomeEvent,
  document: DocumentRecord | undefined,
  source: string,
): Message | undefined {
  if (document === undefined || !hasProcessed(document, event)) return undefined;
  return messageOfDocument(replayDocument(document, event), source);
}

function hasProcessed({ judged }: { readonly judged: ProcessedReceipts }, event: IncomeEvent): boolean {
  return isProcessed(judged, event) || isHistoryFull(judged);
}

/** What a record reports beside the events that are stored: the provider's answers, and what its data is. */
export function replayRecord(
  change: Exclude<Change, { of: "event" }>,
  source: string,
): readonly ReplayedMessage[] {
  switch (change.of) {
    case "state": {
      const { after } = change;
      return after.latest.cause === "answer" ? replayed(after, messageOfState(after, source)) : [];
    }
    case "data": {
      const data = replayData(change.after);
      return data === undefined ? [] : replayed(data, messageOfDocument(data, source));
    }
  }
}

/** The event that a record announces, which may outlive the event's own item. */
export function latestEventOf(change: Exclude<Change, { of: "event" }>): IncomeEvent | undefined {
  const { latest } = change.after;
  return latest.cause === "event" ? latest.event : undefined;
}

function replayed(
  { latest }: Pick<State, "latest">,
  message: Message | undefined,
): readonly ReplayedMessage[] {
  const timestamp = changedAt(latest);
  return message === undefined || timestamp === undefined ? [] : [{ message, timestamp }];
}
