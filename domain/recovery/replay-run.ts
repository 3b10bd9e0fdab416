import { type Fields, fieldsOf, numberOf, optionalText, present, textOf } from "../core/parse.ts";
import { parseSubject } from "../event/subjects.ts";
import type { ReplaySelection } from "../state/replay.ts";

/** A replay in progress: its selection and position. */
export type ReplayRun = ReturnType<typeof parseReplayRun>;

/** @throws permanent failure naming the field */
export function parseReplayRun(value: unknown) {
  const fields = fieldsOf(value, "replay");
  return present({
    /** The `replayid` of its messages. */
    id: textOf(fields, "id"),
    /** Increases with each step. If two processes continue one replay, the second write fails. */
    version: numberOf(fields, "version"),
    selection: parseSelection(fieldsOf(fields.selection, "selection")),
    /** Absent: the whole table. */
    subject: fields.subject === undefined ? undefined : parseSubject(fields.subject),
    /** Names of the recipients. */
    subscribers: parseSubscribers(fields.subscribers),
    /** Whether to include messages that a subscriber's filter excludes. */
    allTypes: fields.allTypes === true,
    /** Messages per second, over all subscribers. */
    rate: numberOf(fields, "rate"),
    /** The key of the last processed item; absent before the first. */
    after: fields.after === undefined ? undefined : parseKey(fieldsOf(fields.after, "after")),
    counts: parseCounts(fieldsOf(fields.counts, "counts")),
  });
}

function parseSubscribers(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function parseSelection(fields: Fields): ReplaySelection {
  return present<ReplaySelection>({
    type: optionalText(fields, "type"),
    since: optionalText(fields, "since"),
    until: optionalText(fields, "until"),
  });
}

function parseKey(fields: Fields) {
  return { pk: textOf(fields, "pk"), sk: textOf(fields, "sk") } as const;
}

function parseCounts(fields: Fields) {
  return {
    /** Number of items read. */
    examined: numberOf(fields, "examined"),
    /** Number of distinct messages that were sent again. */
    messages: numberOf(fields, "messages"),
    /** Number of events that are not processed yet, so that their messages are still to be sent. */
    pending: numberOf(fields, "pending"),
    /** Number of messages sent, by subscriber. */
    sent: parseSent(fieldsOf(fields.sent, "sent")),
  } as const;
}

function parseSent(fields: Fields): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.keys(fields).map((name) => [name, numberOf(fields, name)]));
}
