import type { EventDetails, StoredEvent } from "../../adapters/dynamodb/stored-events.ts";
import { documentOf, progressOf, type SubjectRecords } from "../../domain/event/event-progress.ts";
import { type IncomeEvent, subjectKindOf } from "../../domain/event/events.ts";
import { nameOf, ownerOf, subjectOf } from "../../domain/event/subjects.ts";
import { type Subscriber, wants } from "../../domain/message/subscribers.ts";
import type { EventDeadLetter } from "./event-dead-letters.ts";

/** One step of an event's timeline; `done` is absent where it can't be reported any more. */
export type Step = { readonly step: string; readonly done?: boolean; readonly detail: string };

/** The timeline of a stored event through the pipeline, as far as its records report. */
export function eventTimeline(
  stored: StoredEvent,
  details: EventDetails | undefined,
  records: SubjectRecords,
  {
    subscribers,
    letters,
  }: { readonly subscribers: readonly Subscriber[]; readonly letters: readonly EventDeadLetter[] },
): readonly Step[] {
  const { event } = stored;
  const until = details === undefined ? "" : `, kept until ${details.keptUntil.toISOString()}`;
  return [
    { step: "received", done: true, detail: receivedDetail(stored) },
    { step: "stored", done: true, detail: `with ${nameOf(ownerOf(event))}${until}` },
    ...stepsOfSubject(event, records),
    publishedStep(event, records, subscribers),
    ...letters.map(deadLetterStep),
  ];
}

function deadLetterStep({ queue, what, reason = "no reason was given", sentAt }: EventDeadLetter): Step {
  return { step: "dead letter", done: false, detail: `of ${queue}: ${what} of ${sentAt}, ${reason}` };
}

function receivedDetail({ event, receipts }: StoredEvent): string {
  if (event.reconciled === true) return `${event.receivedAt}, by reconciliation: no webhook announced it`;
  return `${event.receivedAt}, ${receipts === 1 ? "once" : `${receipts} times`}`;
}

function stepsOfSubject(event: IncomeEvent, records: SubjectRecords): readonly Step[] {
  const processed = processedStep(event, records);
  if (subjectKindOf(event.type) === "endpoint") return [processed, fetchedStep(event, records)];
  if (progressOf(event, records).state !== "asking") return [processed];
  return [
    processed,
    { step: "asked", done: false, detail: "it contradicts what was known: the provider is asked" },
  ];
}

function processedStep(event: IncomeEvent, records: SubjectRecords): Step {
  const { state, outcome, version } = progressOf(event, records);
  const name = nameOf(subjectOf(event));
  if (state === "stored") {
    const remedy = "The relay is behind, or has given up: see its alarm, then repair.";
    return { step: "judged", done: false, detail: `nothing has followed yet. ${remedy}` };
  }
  if (state === "past") {
    return { step: "judged", detail: `is unknown: ${name} has processed at least twenty others since` };
  }
  const known =
    outcome === undefined
      ? `the outcome is kept of the latest event of ${name} only`
      : `${outcome}, which made version ${version} of ${name}`;
  return { step: "judged", done: true, detail: known };
}

function fetchedStep(event: IncomeEvent, records: SubjectRecords): Step {
  if (event.dataAvailable === false) {
    return { step: "fetched", done: true, detail: "it said that there is nothing to read yet" };
  }
  const document = documentOf(event, records.documents);
  if (document === undefined) return { step: "fetched", done: false, detail: "not requested yet" };
  const { wanted, done, fetchedAt = "never", content } = document;
  const brought = done === 0 ? "" : content === undefined ? ", the provider has none" : `, digest ${content}`;
  return {
    step: "fetched",
    done: done >= wanted,
    detail: `requested ${wanted}, done ${done}, last ${fetchedAt}${brought}`,
  };
}

function publishedStep(
  event: IncomeEvent,
  records: SubjectRecords,
  subscribers: readonly Subscriber[],
): Step {
  const names = subscribers.filter((subscriber) => wants(subscriber, event.type)).map(({ name }) => name);
  if (names.length === 0) {
    return { step: "published", done: true, detail: `to nobody: no subscriber's filter takes ${event.type}` };
  }
  const { state } = progressOf(event, records);
  const to = `to ${names.join(", ")}`;
  if (state === "past") return { step: "published", detail: to };
  return { step: "published", done: state !== "stored", detail: to };
}
