import { present } from "../core/parse.ts";
import type { Document } from "../fetch/document.ts";
import { rangeOf } from "../fetch/document-name.ts";
import { isHistoryFull, isProcessed, isProcessedLast, type Outcome } from "../state/last-change.ts";
import type { State } from "../state/state.ts";
import { type IncomeEvent, subjectKindOf } from "./events.ts";
import type { Receipts } from "./receipts.ts";

/**
 * How far a stored event has come. `stored`: nothing has followed yet. `asking`: it contradicts what is known, and the
 * provider is asked. `fetching`: data that it announced is still to be read. `done`: nothing
 * of it is outstanding. `past`: its subject has processed too many others since to report.
 */
export const eventStates = ["stored", "asking", "fetching", "done", "past"] as const;
export type EventState = (typeof eventStates)[number];

export type EventProgress = {
  readonly state: EventState;
  /** How it was processed; known until the next event of its subject is. */
  readonly outcome?: Outcome;
  /** The version that it led to, where the outcome is known: the `sequence` of its message. */
  readonly version?: number;
};

/** The records of an event's subject. */
export type SubjectRecords = {
  readonly state: State | undefined;
  readonly documents: readonly Document[];
};

/** A stored event, and how it was received. */
type StoredEvent = { readonly event: IncomeEvent; readonly receipts: Receipts };

/** @param records what is known of the event's subject, which need not be whose partition it lies in */
export function progressOf(stored: StoredEvent, { state, documents }: SubjectRecords): EventProgress {
  const { event } = stored;
  if (subjectKindOf(event.type) !== "endpoint") return progressInState(state, event);
  const isRead = event.dataAvailable === false || isReadFor(stored, documentOf(event, documents));
  return { state: isRead ? "done" : "fetching", outcome: "applied", version: stored.receipts.firstAt };
}

/** The document that an endpoint event announced: of its range of dates, or the whole where ranges are not read. */
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
  // A later event of an unconfirmed subject asks again, and answers for those before it.
  const isAsking = unconfirmed && isProcessedLast(processed, event);
  return present<EventProgress>({
    state: isAsking ? "asking" : "done",
    outcome: isLatest ? latest.outcome : undefined,
    version: isLatest ? version : undefined,
  });
}
