import { type Fields, fieldsOf, numberOf, optionalText, present, textOf } from "../core/parse.ts";
import { parseSubject, type Subject } from "../event/subjects.ts";
import type { ReplaySelection } from "../state/replay.ts";

/** A replay in progress: its selection and position. */
export type ReplayRun = {
  /** The `replayid` of its messages. */
  readonly id: string;
  /** Increases with each step. If two processes continue one replay, the second write fails. */
  readonly version: number;
  readonly selection: ReplaySelection;
  /** Absent: the whole table. */
  readonly subject?: Subject;
  /** Names of the recipients. */
  readonly subscribers: readonly string[];
  /** Whether to include messages that a subscriber's filter excludes. */
  readonly allTypes: boolean;
  /** Messages per second, over all subscribers. */
  readonly rate: number;
  /** The key of the last processed item; absent before the first. */
  readonly after?: { readonly pk: string; readonly sk: string };
  readonly counts: ReplayCounts;
};

export type ReplayCounts = {
  /** Number of items read. */
  readonly examined: number;
  /** Number of distinct messages that were sent again. */
  readonly messages: number;
  /** Number of events that are not processed yet, so that their messages are still to be sent. */
  readonly pending: number;
  /** Number of messages sent, by subscriber. */
  readonly sent: Readonly<Record<string, number>>;
};

/** @throws permanent failure naming the field */
export function parseReplayRun(value: unknown): ReplayRun {
  const fields = fieldsOf(value, "replay");
  const { subscribers } = fields;
  return present<ReplayRun>({
    id: textOf(fields, "id"),
    version: numberOf(fields, "version"),
    selection: parseSelection(fieldsOf(fields.selection, "selection")),
    subject: fields.subject === undefined ? undefined : parseSubject(fields.subject),
    subscribers: Array.isArray(subscribers) ? subscribers.map(String) : [],
    allTypes: fields.allTypes === true,
    rate: numberOf(fields, "rate"),
    after: fields.after === undefined ? undefined : parseKey(fieldsOf(fields.after, "after")),
    counts: parseCounts(fieldsOf(fields.counts, "counts")),
  });
}

function parseSelection(fields: Fields): ReplaySelection {
  return present<ReplaySelection>({
    type: optionalText(fields, "type"),
    since: optionalText(fields, "since"),
    until: optionalText(fields, "until"),
  });
}

function parseKey(fields: Fields): { pk: string; sk: string } {
  return { pk: textOf(fields, "pk"), sk: textOf(fields, "sk") };
}

function parseCounts(fields: Fields): ReplayCounts {
  const sent = fieldsOf(fields.sent, "sent");
  return {
    examined: numberOf(fields, "examined"),
    messages: numberOf(fields, "messages"),
    pending: numberOf(fields, "pending"),
    sent: Object.fromEntries(Object.keys(sent).map((name) => [name, numberOf(sent, name)])),
  };
}
