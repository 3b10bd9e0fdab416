import type { DocumentVersions } from "../../../adapters/dynamodb/document-versions.ts";
import type { EventDetails, StoredEvent } from "../../../adapters/dynamodb/stored-events.ts";
import { queueDepth } from "../../../adapters/sqs/queue-metrics.ts";
import { present } from "../../../domain/core/parse.ts";
import {
  documentOf,
  type EventProgress,
  progressOf,
  type SubjectRecords,
} from "../../../domain/event/event-progress.ts";
import { type IncomeEvent, isWebhookKind, subjectKindOf } from "../../../domain/event/events.ts";
import { nameOf, ownerOf, subjectOf } from "../../../domain/event/subjects.ts";
import type { Document } from "../../../domain/fetch/document.ts";
import { type Subscriber, wants } from "../../../domain/message/message.ts";
import { contentOfDeadLetter, type DeadLetterContent } from "../../../domain/recovery/dead-letter.ts";
import type { Operation } from "../core/command.ts";
import type { Deployment } from "../core/deployment.ts";
import { isoTime } from "../core/text.ts";
import { deadLettersOf } from "../dead-letters/queues.ts";
import { subscriberQueues, type WorkQueue, workQueues } from "../status/work-queues.ts";

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
  const progress = progressOf(stored, records);
  const until = details === undefined ? "" : `, kept until ${details.keptUntil.toISOString()}`;
  return [
    { step: "received", done: true, detail: receivedDetail(stored) },
    { step: "stored", done: true, detail: `with ${nameOf(ownerOf(event))}${until}` },
    ...(subjectKindOf(event.type) === "endpoint"
      ? [fetchedStep(event, progress, records)]
      : stepsOfSubject(event, progress)),
    publishedStep(event, progress, subscribers),
    ...deadLetters.map(({ queue, what, reason = "no reason given", sentAt }) => {
      return { step: "dead letter", done: false, detail: `of ${queue}: ${what} of ${sentAt}, ${reason}` };
    }),
  ];
}

function receivedDetail({ event, receipts }: StoredEvent): string {
  if (event.reconciled === true) return `${event.receivedAt}, by reconciliation: no webhook announced it`;
  return `${event.receivedAt}, ${receipts.count === 1 ? "once" : `${receipts.count} times`}`;
}

function stepsOfSubject(event: IncomeEvent, progress: EventProgress): readonly Step[] {
  const processed = processedStep(nameOf(subjectOf(event)), progress);
  if (progress.state !== "asking") return [processed];
  const detail = "contradicts the stored state, which is fetched from the provider";
  return [processed, { step: "asked", done: false, detail }];
}

function processedStep(name: string, { state, outcome, version }: EventProgress): Step {
  const step = "processed";
  if (state === "stored")
    return {
      step,
      done: false,
      detail: "not yet. If the relay is not just behind: npx income-events repair",
    };
  if (state === "past")
    return { step, detail: `unknown: ${name} has processed at least twenty other events since` };
  if (outcome === undefined)
    return { step, done: true, detail: `outcome stored only for the latest event of ${name}` };
  return { step, done: true, detail: `${outcome}, which made version ${version} of ${name}` };
}

function fetchedStep(event: IncomeEvent, { state }: EventProgress, { documents }: SubjectRecords): Step {
  const step = "fetched";
  if (event.dataAvailable === false) return { step, done: true, detail: "the provider has no data yet" };
  const document = documentOf(event, documents);
  const done = state === "done";
  if (document === undefined) return { step, done, detail: "not yet" };
  const { asOf, digest } = document;
  const brought = digest === undefined ? "the provider has none" : `digest ${digest}`;
  return { step, done, detail: `last as of ${isoTime(asOf)}, ${brought}` };
}

function publishedStep(
  { type }: IncomeEvent,
  { state }: EventProgress,
  subscribers: readonly Subscriber[],
): Step {
  const step = "published";
  const names = subscribers.filter((subscriber) => wants(subscriber, type)).map(({ name }) => name);
  if (names.length === 0) return { step, done: true, detail: `to no subscriber: no filter matches ${type}` };
  const detail = `to ${names.join(", ")}`;
  // The relay stores nothing for an event that announces data; a read document shows that the message was
  // sent.
  if (state === "past" || state === "fetching") return { step, detail };
  return { step, done: state !== "stored", detail };
}

/** The document that an event announced; without `dates`, it has no range. */
export type EventDocument = NonNullable<Awaited<ReturnType<typeof documentOfEvent>>>;

/**
 * Finds the document that an event led to, including a stored version that was superseded.
 * @param documents of the event's subject
 * @returns undefined if the event announced none, or if none exists; `isOfEvent` is false for the newest one, if that is
 * of another event
 */
export async function documentOfEvent(
  event: IncomeEvent,
  documents: readonly Document[],
  { all }: Pick<DocumentVersions, "all">,
) {
  const newest = subjectKindOf(event.type) === "endpoint" ? documentOf(event, documents) : undefined;
  if (newest === undefined) return undefined;
  const kept = await all(subjectOf(event), newest);
  const versions = [newest, ...kept.map(({ document }) => document)].filter(
    ({ digest }) => digest !== undefined,
  );
  const own = versions.find(({ correlationId }) => correlationId === event.id);
  const found = own ?? versions[0];
  if (found?.announced === undefined) return undefined;
  const { subject, endpoint, range, announced } = found;
  return {
    ...{ subject, endpoint, version: String(announced), isOfEvent: own !== undefined },
    ...present({ dates: range && `${range.start}..${range.end}` }),
  };
}

export type EventDeadLetter = {
  readonly queue: string;
  /** The type of message: `users event`, `document fetch task`, or a message's type. */
  readonly what: string;
  readonly id?: string;
  readonly reason?: string;
  readonly sentAt: string;
};

/** Maximum dead letters to read from each queue. */
const maxLookedAt = 1_000;

/**
 * The queues that can contain dead letters of an event: its kind's, the fetch queue's, and those of
 * subscribers of its type.
 */
function queuesOf({ kind, type }: IncomeEvent, deployment: Deployment): readonly WorkQueue[] {
  const getters = subscriberQueues(deployment).filter((subscriber) => wants(subscriber, type));
  const names = [kind, "fetch", ...getters.map(({ name }) => `subscriber/${name}`)];
  return workQueues(deployment).filter(({ name }) => names.includes(name));
}

/** Dead letters of a stored event: the event, its message, or a task for its subject. */
export function deadLettersOfEvent(
  event: IncomeEvent,
  operation: Operation,
): Promise<readonly EventDeadLetter[]> {
  const subject = nameOf(subjectOf(event));
  const isWanted = ({ id, what }: DeadLetterContent) =>
    id === event.id || (what.endsWith(" task") && id === subject);
  return search(queuesOf(event, operation.deployment), isWanted, operation);
}

/** Dead letters of events that could not be stored and so had no consequences, by a prefix of their ids. */
export function deadLettersOfUnstored(
  begins: string,
  operation: Operation,
): Promise<readonly EventDeadLetter[]> {
  const queues = workQueues(operation.deployment).filter(({ name }) => isWebhookKind(name));
  return search(queues, ({ id = "" }) => id.startsWith(begins), operation);
}

async function search(
  queues: readonly WorkQueue[],
  isWanted: (content: DeadLetterContent) => boolean,
  operation: Operation,
): Promise<readonly EventDeadLetter[]> {
  const found: EventDeadLetter[] = [];
  for (const queue of queues) {
    if ((await queueDepth(operation.clients.sqs, queue.deadLetterQueueUrl)).waiting === 0) continue;
    let lookedAt = 0;
    const source = deadLettersOf(operation, queue);
    await source(async (deadLetters) => {
      lookedAt += deadLetters.length;
      for (const { body, reason, sentAt } of deadLetters) {
        const content = contentOfDeadLetter(body);
        if (!isWanted(content)) continue;
        const { what, id } = content;
        found.push({ queue: queue.name, what, sentAt: sentAt.toISOString(), ...present({ id, reason }) });
      }
      return { done: [], isEnough: lookedAt >= maxLookedAt };
    });
    if (lookedAt >= maxLookedAt)
      operation.terminal.progress(
        `Only ${lookedAt} dead letters of ${queue.name} were checked. List them: npx income-events dlq list`,
      );
  }
  return found;
}
