import { present } from "../core/parse.ts";
import { type Document, rangeOf } from "../fetch/document.ts";
import { wants } from "../message/message.ts";
import type { State } from "../state/state.ts";
import { type IncomeEvent, type Outcome, subjectKindOf, type WebhookKind } from "./events.ts";
import { isHistoryFull, isProcessed, isProcessedLast, type Receipts } from "./receipts.ts";

/**
 * The progress of a stored event. `stored`: not processed yet. `asking`: it contradicts the stored state, and
 * the provider is queried. `fetching`: the data that it announced is not read yet. `done`: nothing is
 * outstanding. `past`: its subject has processed too many later events to tell.
 */
export const eventStates = ["stored", "asking", "fetching", "done", "past"] as const;
export type EventState = (typeof eventStates)[number];

export type EventProgress = {
  readonly state: EventState;
  /** How the event was processed; known until the next event of its subject is processed. */
  readonly outcome?: Outcome;
  /** The version that the event led to, if the outcome is known: the `sequence` of its message. */
  readonly version?: number;
};

export type SubjectRecords = {
  readonly state: State | undefined;
  readonly documents: readonly Document[];
};

type StoredEvent = { readonly event: IncomeEvent; readonly receipts: Receipts };

/** @param records records of the event's subject, which may be in another partition than the event */
export function progressOf(stored: StoredEvent, { state, documents }: SubjectRecords): EventProgress {
  const { event } = stored;
  if (subjectKindOf(event.type) !== "endpoint") return progressInState(state, event);
  const isRead = event.dataAvailable === false || isReadFor(stored, documentOf(event, documents));
  return { state: isRead ? "done" : "fetching", outcome: "applied", version: stored.receipts.firstAt };
}

/**
 * The document that an endpoint event announced: that of its date range, or the whole one if ranges are not
 * read.
 */
export function documentOf(event: IncomeEvent, documents: readonly Document[]): Document | undefined {
  const range = rangeOf(event);
  const own = documents.filter(({ endpoint }) => endpoint === event.endpoint);
  const isOfRange = (document: Document) =>
    document.range?.start === range?.start && document.range?.end === range?.end;
  return own.find(isOfRange) ?? own.find((document) => document.range === undefined);
}

function isReadFor({ receipts }: StoredEvent, document: Document | undefined): boolean {
  return document !== undefined && receipts.since <= document.asOf;
}

function progressInState(state: State | undefined, event: IncomeEvent): EventProgress {
  if (state === undefined) return { state: "stored" };
  const { processed, latest, version, unconfirmed } = state;
  if (!isProcessed(processed, event)) return { state: isHistoryFull(processed) ? "past" : "stored" };
  const isLatest = latest.cause === "event" && latest.event.id === event.id;
  // A later event of an unconfirmed subject triggers another query, which also settles the earlier events.
  const isAsking = unconfirmed && isProcessedLast(processed, event);
  return present<EventProgress>({
    state: isAsking ? "asking" : "done",
    outcome: isLatest ? latest.outcome : undefined,
    version: isLatest ? version : undefined,
  });
}

/** Selects events. An absent field matches all. */
export type EventFilter = {
  readonly kind?: WebhookKind;
  /** An event type, or a prefix that ends in `*`, as for subscribers. */
  readonly type?: string;
  readonly endpoint?: string;
  /** A part of the event's id. */
  readonly text?: string;
  /** When the event was received: from `since` (inclusive) until `until` (exclusive), ISO 8601. */
  readonly since?: string;
  readonly until?: string;
};

export function selects(
  { kind, type, endpoint, text, since, until }: EventFilter,
  event: IncomeEvent,
): boolean {
  return (
    (endpoint === undefined || event.endpoint === endpoint) &&
    (text === undefined || event.id.includes(text)) &&
    (kind === undefined || event.kind === kind) &&
    (type === undefined || wants({ name: "", types: [type] }, event.type)) &&
    (since === undefined || event.receivedAt >= since) &&
    (until === undefined || event.receivedAt < until)
  );
}
