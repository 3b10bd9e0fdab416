import { readChange, type StreamRecord } from "../../../adapters/streams/change-stream.ts";
import { followStream, streamOf } from "../../../adapters/streams/stream-follower.ts";
import { isFields } from "../../../domain/core/parse.ts";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import { nameOf, subjectOf } from "../../../domain/event/subjects.ts";
import { nameOfData } from "../../../domain/fetch/document.ts";
import { statusOf } from "../../../domain/readiness/readiness.ts";
import type { AccountReadiness } from "../../../domain/readiness/stored-readiness.ts";
import type { Change } from "../../../domain/state/change.ts";
import type { State } from "../../../domain/state/state.ts";
import type { Operation } from "../core/command.ts";
import { awaitInterruption, waitUnlessAborted } from "../core/interruption.ts";
import { isoTime, oneLine } from "../core/text.ts";

/** Describes a change of the table: an event arrived, a task or message followed, the provider answered. */
export type Happening = {
  readonly at: string;
  readonly what: string;
  readonly subject: string;
  readonly type?: string;
  /** The event's id. */
  readonly id?: string;
  readonly version?: number;
};

export type TailRecord = StreamRecord & {
  readonly dynamodb?: { readonly ApproximateCreationDateTime?: Date | undefined } | undefined;
};

/** @returns undefined for changes that are not a step of an event, such as links, counters and expiry */
export function happeningOf(record: TailRecord, now: Date): Happening | undefined {
  if (!isOfEvents(record.dynamodb?.NewImage)) return undefined;
  const change = readChange(record);
  const happening = describe(change);
  const written = record.dynamodb?.ApproximateCreationDateTime ?? now;
  const at = isoTime(Math.max(written.getTime(), knownAt(change)));
  return happening && { at, ...happening };
}

/**
 * In milliseconds since 1970. Streams round the time of a write down; DynamoDB Local rounds to the minute.
 */
function knownAt(change: Change): number {
  switch (change.type) {
    case "event":
      return change.receipts.since;
    case "state":
      return change.after.latest.cause === "event" ? Date.parse(change.after.latest.event.receivedAt) : 0;
    case "document":
      return change.after.asOf;
    case "userReadiness":
      return change.after.at;
    case "readiness":
      return 0;
  }
}

/** Whether an item is an event, a state, a document or a readiness: other changes have no consequences. */
export function isOfEvents(image: Readonly<Record<string, unknown>> | undefined): boolean {
  const key = isFields(image?.sk) ? String(image.sk.S) : "";
  return key === "STATE" || key === "READINESS" || key.startsWith("EVENT#") || key.startsWith("DOCUMENT#");
}

type HappeningFields = Omit<Happening, "at">;

function describe(change: Change): HappeningFields | undefined {
  switch (change.type) {
    case "event": {
      const { count } = change.receipts;
      return ofEvent(count === 1 ? "received" : `received ${count} times`, change.event);
    }
    case "state":
      return ofState(change.before?.version, change.after);
    case "document": {
      const { subject, news } = change.after;
      const name = `${nameOf(subject)}/${nameOfData(change.after, "/")}`;
      return { what: news ? "data changed" : "data read", subject: name };
    }
    case "readiness":
      return ofReadiness(change.before, change.after);
    case "userReadiness": {
      const { subject, version } = change.after;
      return { what: "readiness: ready", subject: nameOf(subject), version };
    }
  }
}

function ofReadiness(
  before: AccountReadiness | undefined,
  after: AccountReadiness,
): HappeningFields | undefined {
  const status = statusOf(after);
  if (before !== undefined && statusOf(before) === status && before.since === after.since) return undefined;
  return { what: `readiness: ${status}`, subject: nameOf(after.subject), version: after.version };
}

function ofState(before: number | undefined, state: State): HappeningFields | undefined {
  const { version, latest } = state;
  const subject = nameOf(state.subject);
  if (before === version) return undefined;
  switch (latest.cause) {
    case "event":
      return { ...ofEvent(latest.outcome, latest.event), subject, version };
    case "answer":
      return { what: "answered", subject, version };
    case "again":
      return { what: "noted", subject, version };
  }
}

function ofEvent(what: string, event: IncomeEvent): HappeningFields {
  return { what, subject: nameOf(subjectOf(event)), type: event.type, id: event.id };
}

const shownOfId = 12;

/** A line for people, in approximate columns, because later lines are unknown. */
export function happeningLine({ at, what, subject, type = "-", id, version }: Happening): string {
  const rest = [version === undefined ? "" : `version ${version}`, id?.slice(0, shownOfId) ?? ""];
  const columns = [at, what.padEnd(12), type.padEnd(28), subject, ...rest.filter((part) => part !== "")];
  return oneLine(columns.join("  "));
}

/**
 * Yields the changes of the stage's table from now on, until Ctrl-C.
 * @param what follows "Following" in the progress line once the reader is ready
 */
export async function* followTable(
  { deployment, clients, terminal }: Operation,
  what: string,
): AsyncGenerator<TailRecord> {
  using interruption = awaitInterruption();
  const { signal } = interruption;
  const stream = await streamOf(clients.dynamodb, deployment.output("TableName"));
  const records = followStream(clients.dynamodbStreams, stream, {
    signal,
    wait: (seconds) => waitUnlessAborted(seconds, signal),
    onReady: () => terminal.progress(`Following ${what}. Ctrl-C ends it.`),
    onError: (reason) => terminal.progress(`${reason}: retrying.`),
  });
  for await (const some of records) yield* some;
}
