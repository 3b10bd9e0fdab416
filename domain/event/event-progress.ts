import { present } from "../core/parse.ts";
import type { DocumentRecord } from "../fetch/document.ts";
import { isHistoryFull, isProcessed, isProcessedLast, type Outcome } from "../state/last-change.ts";
import type { State } from "../state/state.ts";
import { type IncomeEvent, subjectKindOf } from "./events.ts";

/**
 * How far a stored event has come. `stored`: nothing has followed yet. `asking`: it contradicts what is known, and the
 * provider is asked. `fetching`: data that it announced is to be read, or read again for a later event. `done`: nothing
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
  readonly documents: readonly DocumentRecord[];
};

/** @param records what is known of the event's subject, which need not be whose partition it lies in */
export function progressOf(event: IncomeEvent, { state, documents }: SubjectRecords): EventProgress {
  if (subjectKindOf(event.type) !== "endpoint") {
    return progressIn(state, event, state?.unconfirmed === true ? "asking" : undefined);
  }
  const document = documentOf(event, documents);
  const isOpen = document !== undefined && document.wanted > document.done && event.dataAvailable !== false;
  return progressIn(document, event, isOpen ? "fetching" : undefined);
}

/**
 * The document that an endpoint event led to: the one that processed it, whether or not its dates were distinguished.
 */
export function documentOf(
  event: IncomeEvent,
  documents: readonly DocumentRecord[],
): DocumentRecord | undefined {
  const some = documents.filter(({ endpoint }) => endpoint === event.endpoint);
  return (
    some.find(({ judged }) => isProcessed(judged, event)) ?? some.find(({ judged }) => isHistoryFull(judged))
  );
}

function progressIn(
  record: Pick<State, "judged" | "latest" | "version"> | undefined,
  event: IncomeEvent,
  open: "asking" | "fetching" | undefined,
): EventProgress {
  if (record === undefined) return { state: "stored" };
  const { judged, latest, version } = record;
  if (!isProcessed(judged, event)) return { state: isHistoryFull(judged) ? "past" : "stored" };
  const isLatest = latest.cause === "event" && latest.event.id === event.id;
  // A later event of an unconfirmed subject asks again, and answers for those before it.
  const isOpen = open === "fetching" || (open === "asking" && isProcessedLast(judged, event));
  return present<EventProgress>({
    state: isOpen ? open : "done",
    outcome: isLatest ? latest.outcome : undefined,
    version: isLatest ? version : undefined,
  });
}
