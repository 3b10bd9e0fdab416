import { type Fields, fieldsOf, numberOf, optionalText, present, textOf } from "../core/parse.ts";
import { parseSubject, type Subject } from "../event/subjects.ts";
import type { ReplaySelection } from "../state/replay.ts";

/** A replay on its way: what it is about, and how far it has come. */
export type ReplayRun = {
  /** The `replayid` of its messages. */
  readonly id: string;
  /** Rises with each step: of two that go on with one replay, the second is refused. */
  readonly version: number;
  readonly selection: ReplaySelection;
  /** Absent: the whole table. */
  readonly subject?: Subject;
  /** Who gets it, by name. */
  readonly subscribers: readonly string[];
  /** Also what a subscriber's filter leaves out. */
  readonly allTypes: boolean;
  /** Messages in a second, over all subscribers. */
  readonly rate: number;
  /** The key of the last item that is done with; absent: none. */
  readonly after?: { readonly pk: string; readonly sk: string };
  readonly counts: ReplayCounts;
};

export type ReplayCounts = {
  /** Items that were read. */
  readonly examined: number;
  /** Messages that were sent again, each once, however many got it. */
  readonly messages: number;
  /** Events whose messages are still to come by themselves. */
  readonly pending: number;
  /** Messages sent, by the subscriber's name. */
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
