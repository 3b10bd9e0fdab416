import middy from "@middy/core";
import type { SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import type { Receipt, ReceiptOutcome } from "../../adapters/dynamodb/event-table.ts";
import { bodyText, type OverflowBucket, sizedEnvelope } from "../../adapters/s3/overflow-bucket.ts";
import type { Send } from "../../adapters/sqs/sqs-sender.ts";
import { batchesOf } from "../../domain/core/batches.ts";
import { type Failure, failureOf } from "../../domain/core/failures.ts";
import { present } from "../../domain/core/parse.ts";
import {
  type Body,
  bodyOf,
  type Envelope,
  readEnvelope,
  writeEnvelope,
} from "../../domain/event/envelope.ts";
import { canaryIn, type EventAttributes } from "../../domain/event/events.ts";
import { parseExact } from "../../domain/event/lossless-json.ts";
import { countedName, type KindMapping, type Search } from "../../domain/event/mapping.ts";
import { subjectOf } from "../../domain/event/subjects.ts";
import { type MappedEvent, mapWebhook } from "../../domain/event/webhook-events.ts";
import type { Log, LogCode, LogFields } from "../runtime/log.ts";
import { handleBatch, redriveCountOf, rejectAll, rejectPermanent } from "../runtime/sqs-batch.ts";

export type ConsumerDependencies = {
  /** Records receipts. @returns the outcome of each, in order */
  readonly record: (receipts: readonly Receipt[]) => Promise<readonly ReceiptOutcome[]>;
  readonly recordCanary: (id: string) => Promise<void>;
  readonly overflow: Pick<OverflowBucket, "get" | "put">;
  readonly send: Send;
  readonly deadLetterQueueUrl: string;
  readonly mapping: KindMapping;
  readonly search: Search;
  readonly log: Log;
};

/** One event of a message, and how to handle it. */
type Part = MappedEvent & {
  /** The message's envelope; for an element of a list, an envelope with only this element. */
  readonly envelope: Envelope;
  /** Id of the webhook that delivered the event. */
  readonly webhook: string;
  readonly message: Receipt["message"];
};

type MappedPart = Extract<Part, { readonly facts: EventAttributes }>;

type Message = { readonly record: SQSRecord; readonly parts: readonly Part[] };

/** Maximum number of events written at once; more elements of a list would overload its partition. */
const writtenAtOnce = 250;

/** Stores the events of one kind. Each receipt is one write; the writes of a batch share requests. */
export function consumer(dependencies: ConsumerDependencies) {
  const { send, deadLetterQueueUrl, log } = dependencies;
  return middy<SQSEvent, SQSBatchResponse>({ timeoutEarlyInMillis: 0 }).handler(
    handleBatch((records) => store(records, dependencies), rejectPermanent(send, deadLetterQueueUrl, log)),
  );
}

/** One invalid message or event does not keep the others from being stored. */
async function store(
  records: readonly SQSRecord[],
  dependencies: ConsumerDependencies,
): Promise<readonly (Failure | undefined)[]> {
  const read = await Promise.all(records.map((record) => readMessage(record, dependencies).catch(failureOf)));
  const outcomes = new Map<Part, ReceiptOutcome>();
  const parts = read.flatMap((each) => ("parts" in each ? each.parts : []));
  for (const some of batchesOf(parts, { maxItems: writtenAtOnce }))
    await record(some, outcomes, dependencies);
  return Promise.all(
    read.map((each) => ("parts" in each ? settle(each, outcomes, dependencies) : Promise.resolve(each))),
  );
}

async function readMessage(record: SQSRecord, dependencies: ConsumerDependencies): Promise<Message> {
  const { messageId, attributes } = record;
  const envelope = readEnvelope(record.body);
  const message = { id: messageId, sentAt: Number(attributes.SentTimestamp) };
  const events = await eventsOf(envelope, dependencies);
  const parts = events.map(async (event): Promise<Part> => {
    const own = await ownEnvelope(envelope, event, dependencies);
    return { ...event, envelope: own, webhook: envelope.id, message };
  });
  return { record, parts: await Promise.all(parts) };
}

async function eventsOf(
  { body, ...webhook }: Envelope,
  { overflow, mapping, search, log, recordCanary }: ConsumerDependencies,
): Promise<readonly MappedEvent[]> {
  if (body.type === "facts") return [{ id: webhook.id, facts: body.facts }];
  const text = await bodyText(body, overflow);
  const canary = canaryIn(text);
  if (canary !== undefined) {
    await recordCanary(canary);
    return [];
  }
  const payload = parseExact(text, "the body");
  const events = mapWebhook(mapping, webhook, payload, search);
  if (events.length === 0)
    log("EVENT_IGNORED", {
      kind: webhook.kind,
      correlationIds: [webhook.id],
      reason: "the list of events is empty",
    });
  return events;
}

/** The envelope of one element of a list, without the other elements. */
async function ownEnvelope(
  envelope: Envelope,
  event: MappedEvent,
  { overflow }: ConsumerDependencies,
): Promise<Envelope> {
  if (event.text === undefined) return envelope;
  if ("ignored" in event) return { ...envelope, id: event.id };
  const body: Body = bodyOf(Buffer.from(event.text));
  return (await sizedEnvelope({ ...envelope, id: event.id, isElement: true, body }, overflow)).envelope;
}

/** Writes the events that can be stored, and logs the outcome of each. */
async function record(
  parts: readonly Part[],
  outcomes: Map<Part, ReceiptOutcome>,
  { record: recordReceipts, mapping, log }: ConsumerDependencies,
): Promise<void> {
  const stored = parts.filter((part) => "facts" in part);
  const results = stored.length === 0 ? [] : await recordReceipts(stored.map(receiptOf));
  for (const [index, part] of stored.entries()) outcomes.set(part, results[index] ?? failureOf(undefined));
  const having = (outcome: ReceiptOutcome) => stored.filter((part) => outcomes.get(part) === outcome);
  logReceipts("EVENT_STORED", having("first"), log);
  logReceipts("EVENT_DUPLICATE", having("duplicate"), log);
  const leftOut = having("first").flatMap((part) => part.leftOut?.map((name) => ({ name, part })) ?? []);
  for (const [name, some] of Map.groupBy(leftOut, (each) => each.name))
    log("ATTRIBUTE_LEFT_OUT", { ...idsOf(some.map(({ part }) => part)), name, count: some.length });
  const ignored = parts.filter((part) => "ignored" in part);
  // One line for each name, so that each is counted separately.
  for (const [name, some] of Map.groupBy(ignored, (part) => countedName(mapping, part.ignored)))
    log("EVENT_IGNORED", { ...idsOf(some), name, count: some.length });
}

function receiptOf({ id, facts, envelope: { kind, receivedAt, body }, message }: MappedPart): Receipt {
  const reconciled = body.type === "facts" ? { reconciled: true as const } : {};
  return { event: { ...facts, id, kind, receivedAt, ...reconciled }, body, message };
}

/** A message is done when each of its events is stored, ignored, or sent as its own dead letter. */
async function settle(
  { record, parts }: Message,
  outcomes: ReadonlyMap<Part, ReceiptOutcome>,
  { send, deadLetterQueueUrl, log }: ConsumerDependencies,
): Promise<Failure | undefined> {
  const failed = parts.flatMap((part) => {
    const outcome = "failure" in part ? part.failure : outcomes.get(part);
    return typeof outcome === "object" ? [{ part, failure: outcome }] : [];
  });
  // While an event is still retried, each attempt would send the others' dead letters again.
  const isList = parts.some(({ text }) => text !== undefined);
  const still = isList ? failed.find(({ failure }) => failure.type === "retryable") : failed[0];
  if (still !== undefined || failed.length === 0) return still?.failure;
  const letters = failed.map(({ part, failure }) => ({
    ...{ messageId: record.messageId, body: writeEnvelope(part.envelope), reason: failure.reason },
    ...redriveCountOf(record),
  }));
  const areSafe = await rejectAll(letters, send, deadLetterQueueUrl, log);
  const left = areSafe.filter((isSafe) => !isSafe).length;
  if (left === 0) return undefined;
  return { type: "retryable", reason: `${left} dead letters of events could not be sent`, delayInSeconds: 0 };
}

/** Logs one line with the ids of several receipts: a line for each would cost more than its write. */
function logReceipts(code: LogCode, stored: readonly MappedPart[], log: Log): void {
  if (stored.length === 0) return;
  const byId = [...new Map(stored.map((part) => [part.id, part])).values()];
  log(code, {
    ...idsOf(byId),
    count: stored.length,
    types: byId.map(({ facts }) => facts.type),
    subjects: byId.map(({ facts }) => ({ subject: subjectOf(facts), endpoint: facts.endpoint })),
  });
}

function idsOf(parts: readonly Part[]): LogFields {
  const [first] = parts;
  return {
    ...present({ kind: first?.envelope.kind }),
    correlationIds: parts.map(({ id }) => id),
    ...(parts.some(({ id, webhook }) => id !== webhook) && { webhooks: parts.map(({ webhook }) => webhook) }),
  };
}
