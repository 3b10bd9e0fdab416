import { dataSetOf, type SubjectRecords } from "../event/event-progress.ts";
import { type IncomeEvent, subjectKindOf } from "../event/events.ts";
import type { DataSet } from "../fetch/document.ts";
import { messageOfDataSet, messageOfState } from "../message/message.ts";
import type { Message } from "../message/message-schemas.ts";
import { wants } from "../message/subscribers.ts";
import type { Change } from "./change.ts";
import { isJudged, type Judged, mayHaveForgotten, momentOf } from "./last-change.ts";
import { retellData, retellDataSet, retellState } from "./replay-message.ts";
import type { State } from "./state.ts";

/** Which messages are replayed; what is absent does not matter. */
export type ReplaySelection = {
  /** A message type, or a prefix that ends in `*`, as subscribers have it. */
  readonly type?: string;
  /** Events by when they were received, answers of the provider by when they came; ISO 8601, `until` excluded. */
  readonly since?: string;
  readonly until?: string;
};

/** A message as it is told again, and when what it tells came. */
export type Retold = { readonly message: Message; readonly moment: string };

export function isSelected(
  { type, since, until }: ReplaySelection,
  told: { readonly type: string; readonly moment: string },
): boolean {
  return (
    (type === undefined || wants({ name: "", types: [type] }, told.type)) &&
    (since === undefined || told.moment >= since) &&
    (until === undefined || told.moment < until)
  );
}

/**
 * An event's message, with the `sequence` and the state of its subject as it stands now.
 * @returns undefined where nothing has followed the event yet: its message is still to come by itself
 */
export function retellEvent(
  event: IncomeEvent,
  { state, dataSets }: SubjectRecords,
  source: string,
): Retold | undefined {
  const message =
    subjectKindOf(event.type) === "endpoint"
      ? ofDataSet(event, dataSetOf(event, dataSets), source)
      : ofState(event, state, source);
  return message && { message, moment: event.receivedAt };
}

function ofState(event: IncomeEvent, state: State | undefined, source: string): Message | undefined {
  if (state === undefined || !hasJudged(state, event)) return undefined;
  return messageOfState(retellState(state, event), source);
}

function ofDataSet(event: IncomeEvent, dataSet: DataSet | undefined, source: string): Message | undefined {
  if (dataSet === undefined || !hasJudged(dataSet, event)) return undefined;
  return messageOfDataSet(retellDataSet(dataSet, event), source);
}

function hasJudged({ judged }: { readonly judged: Judged }, event: IncomeEvent): boolean {
  return isJudged(judged, event) || mayHaveForgotten(judged);
}

/** What a record tells beside the events that are stored: the provider's answers, and what its data is. */
export function retellRecord(change: Exclude<Change, { of: "event" }>, source: string): readonly Retold[] {
  switch (change.of) {
    case "state": {
      const { after } = change;
      return after.latest.cause === "answer" ? told(after, messageOfState(after, source)) : [];
    }
    case "data": {
      const data = retellData(change.after);
      return data === undefined ? [] : told(data, messageOfDataSet(data, source));
    }
  }
}

/** The event that a record tells of, which may outlive the event's own item. */
export function latestEventOf(change: Exclude<Change, { of: "event" }>): IncomeEvent | undefined {
  const { latest } = change.after;
  return latest.cause === "event" ? latest.event : undefined;
}

function told({ latest }: Pick<State, "latest">, message: Message | undefined): readonly Retold[] {
  const moment = momentOf(latest);
  return message === undefined || moment === undefined ? [] : [{ message, moment }];
}
