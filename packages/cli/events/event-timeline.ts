import type { EventDetails, StoredEvent } from "../../../adapters/dynamodb/stored-events.ts";
import { documentOf, progressOf, type SubjectRecords } from "../../../domain/event/event-progress.ts";
import { subjectKindOf } from "../../../domain/event/events.ts";
import { nameOf, ownerOf, subjectOf } from "../../../domain/event/subjects.ts";
import { type Subscriber, wants } from "../../../domain/message/message.ts";
import type { EventDeadLetter } from "./event-dead-letters.ts";

/** A step of an event's timeline; `done` is undefined if the records don't show it any more. */
export type Step = { readonly step: string; readonly done?: boolean; readonly detail: string };

/** The timeline of a stored event, as far as its records show. */
export function eventTimeline(
  stored: StoredEvent,
  details: EventDetails | undefined,
  records: SubjectRecords,
  {
    subscribers,
    deadLetters,
  }: { readonly subscribers: readonly Subscriber[]; readonly deadLetters: readonly EventDeadLetter[] },
): readonly Step[] {
  const { event } = stored;
  const until = details === undefined ? "" : `, kept until ${details.keptUntil.toISOString()}`;
  return [
    { step: "received", done: true, detail: receivedDetail(stored) },
    { step: "stored", done: true, detail: `with ${nameOf(ownerOf(event))}${until}` },
    ...stepsOfSubject(stored, records),
    publishedStep(stored, records, subscribers),
    ...deadLetters.map(deadLetterStep),
  ];
}

function deadLetterStep({ queue, what, reason = "no reason given", sentAt }: EventDeadLetter): Step {
  return { step: "dead letter", done: false, detail: `of ${queue}: ${what} of ${sentAt}, ${reason}` };
}

function receivedDetail({ event, receipts }: StoredEvent): string {
  if (event.reconciled === true) return `${event.receivedAt}, by reconciliation: no webhook announced it`;
  return `${event.receivedAt}, ${receipts.count === 1 ? "once" : `${receipts.count} times`}`;
}

function stepsOfSubject(stored: StoredEvent, records: SubjectRecords): readonly Step[] {
  if (subjectKindOf(stored.event.type) === "endpoint") return [fetchedStep(stored, records)];
  const processed = processedStep(stored, records);
  if (progressOf(stored, records).state !== "asking") return [processed];
  return [
    processed,
    {
      step: "asked",
      done: false,
      detail: "contradicts the stored state, which is fetched from the provider",
    },
  ];
}

function processedStep(stored: StoredEvent, records: SubjectRecords): Step {
  const { state, outcome, version } = progressOf(stored, records);
  const name = nameOf(subjectOf(stored.event));
  if (state === "stored") {
    const remedy = "If the relay is not just behind: npx income-events repair";
    return { step: "processed", done: false, detail: `not yet. ${remedy}` };
  }
  if (state === "past")
    return { step: "processed", detail: `unknown: ${name} has processed at least twenty other events since` };
  const known =
    outcome === undefined
      ? `outcome stored only for the latest event of ${name}`
      : `${outcome}, which made version ${version} of ${name}`;
  return { step: "processed", done: true, detail: known };
}

function fetchedStep(stored: StoredEvent, records: SubjectRecords): Step {
  const { event } = stored;
  if (event.dataAvailable === false)
    return { step: "fetched", done: true, detail: "the provider has no data yet" };
  const document = documentOf(event, records.documents);
  const done = progressOf(stored, records).state === "done";
  if (document === undefined) return { step: "fetched", done, detail: "not yet" };
  const { asOf, digest } = document;
  const brought = digest === undefined ? "the provider has none" : `digest ${digest}`;
  return { step: "fetched", done, detail: `last as of ${new Date(asOf).toISOString()}, ${brought}` };
}

function publishedStep(
  stored: StoredEvent,
  records: SubjectRecords,
  subscribers: readonly Subscriber[],
): Step {
  const { event } = stored;
  const names = subscribers.filter((subscriber) => wants(subscriber, event.type)).map(({ name }) => name);
  if (names.length === 0)
    return { step: "published", done: true, detail: `to no subscriber: no filter matches ${event.type}` };
  const { state } = progressOf(stored, records);
  const to = `to ${names.join(", ")}`;
  // The relay stores nothing for an event that announces data; a read document shows that the message was
  // sent.
  if (state === "past" || state === "fetching") return { step: "published", detail: to };
  return { step: "published", done: state !== "stored", detail: to };
}
