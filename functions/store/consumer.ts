import middy from "@middy/core";
import type { SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import { bodyText, type WebhookBody } from "../../adapters/aws/body-text.ts";
import type { Receipt, RecordReceipts } from "../../adapters/dynamodb/event-table.ts";
import type { OverflowBucket } from "../../adapters/s3/overflow-bucket.ts";
import type { Send } from "../../adapters/sqs/sqs-sender.ts";
import { type Failure, failureOf } from "../../domain/core/failures.ts";
import { present } from "../../domain/core/parse.ts";
import { readEnvelope } from "../../domain/event/envelope.ts";
import { type IncomeEvent, type WebhookKind, withBelievableTime } from "../../domain/event/events.ts";
import { countedName } from "../../domain/event/ignored-events.ts";
import { parseExact } from "../../domain/event/lossless-json.ts";
import { ignoredName, type KindMapping, mapPayload, type Search } from "../../domain/event/mapping.ts";
import type { MappedHeaders } from "../../domain/event/mapping-source.ts";
import { nameOf, subjectOf } from "../../domain/event/subjects.ts";
import type { Log, LogCode } from "../runtime/log.ts";
import { rejectPermanent, wholeSqsBatch } from "../runtime/sqs-batch.ts";

export type ConsumerDependencies = {
  readonly record: RecordReceipts;
  readonly overflow: OverflowBucket;
  readonly send: Send;
  readonly deadLetterQueueUrl: string;
  readonly mapping: KindMapping;
  readonly search: Search;
  readonly log: Log;
};

/** A webhook that the settings ignore. */
type Ignored = { readonly ignored: string; readonly id: string; readonly kind: WebhookKind };

/** Stores the events of one kind: each receipt is one write, and those of a batch are one request. */
export function consumer(dependencies: ConsumerDependencies) {
  const { send, deadLetterQueueUrl, log } = dependencies;
  return middy<SQSEvent, SQSBatchResponse>({ timeoutEarlyInMillis: 0 }).handler(
    wholeSqsBatch((records) => store(records, dependencies), rejectPermanent(send, deadLetterQueueUrl, log)),
  );
}

/** What is wrong with a message keeps none of the others from being stored. */
async function store(
  records: readonly SQSRecord[],
  dependencies: ConsumerDependencies,
): Promise<readonly (Failure | undefined)[]> {
  const read = await Promise.all(records.map((record) => readReceipt(record, dependencies).catch(failureOf)));
  const receipts = read.filter(isReceipt);
  const outcomes = receipts.length === 0 ? [] : await dependencies.record(receipts);
  logReceipts(
    "EVENT_STORED",
    receipts.filter((_, index) => outcomes[index] === "first"),
    dependencies.log,
  );
  logReceipts(
    "EVENT_AGAIN",
    receipts.filter((_, index) => outcomes[index] === "again"),
    dependencies.log,
  );
  logIgnored(read.filter(isIgnoredReceipt), dependencies);
  const outcomeOf = new Map(receipts.map((receipt, index) => [receipt, outcomes[index]]));
  return read.map((each) => {
    if (isIgnoredReceipt(each)) return undefined;
    const outcome = isReceipt(each) ? outcomeOf.get(each) : each;
    return outcome === "first" || outcome === "again" ? undefined : outcome;
  });
}

async function readReceipt(
  { body: message, messageId, attributes }: SQSRecord,
  dependencies: ConsumerDependencies,
): Promise<Receipt | Ignored> {
  const { id, kind, receivedAt, headers, body } = readEnvelope(message);
  const isReconciled = body.as === "facts";
  const mapped = isReconciled ? body.facts : await mapBody(body, headers, dependencies);
  if ("ignored" in mapped) return { ...mapped, id, kind };
  const facts = isReconciled ? mapped : withBelievableTime(mapped, receivedAt);
  const event = { ...facts, id, kind, receivedAt, ...(isReconciled ? { reconciled: true as const } : {}) };
  return { event, body, message: { id: messageId, sentAt: Number(attributes.SentTimestamp) } };
}

async function mapBody(
  body: WebhookBody,
  headers: MappedHeaders | undefined,
  { overflow, mapping, search }: ConsumerDependencies,
) {
  const payload = parseExact(await bodyText(body, overflow), "the body");
  const ignored = ignoredName(mapping, { body: payload, headers: headers ?? {} }, search);
  return ignored === undefined ? mapPayload(mapping, payload, search, headers) : { ignored };
}

function isReceipt(value: Receipt | Ignored | Failure): value is Receipt {
  return "event" in value;
}

function isIgnoredReceipt(value: Receipt | Ignored | Failure): value is Ignored {
  return "ignored" in value;
}

/** One line for each name, for each is counted by itself. */
function logIgnored(events: readonly Ignored[], { mapping, log }: ConsumerDependencies): void {
  const byName = Map.groupBy(events, ({ ignored }) => countedName(mapping, ignored));
  for (const [name, some] of byName) {
    const [{ kind } = {}] = some;
    log("EVENT_IGNORED", {
      ...present({ kind }),
      name,
      count: some.length,
      correlationIds: some.map(({ id }) => id),
    });
  }
}

/** One line for the invocation, with the ids of all: a line for each event would cost more than its write. */
function logReceipts(code: LogCode, receipts: readonly Receipt[], log: Log): void {
  const [first] = receipts;
  if (first === undefined) return;
  const events = [...new Map(receipts.map(({ event }) => [event.id, event])).values()];
  log(code, {
    kind: first.event.kind,
    count: receipts.length,
    correlationIds: events.map(({ id }) => id),
    types: events.map(({ type }) => type),
    subjects: events.map(subjectText),
  });
}

function subjectText(event: IncomeEvent): string {
  const { endpoint } = event;
  return [nameOf(subjectOf(event)), ...(endpoint === undefined ? [] : [endpoint])].join("/");
}
