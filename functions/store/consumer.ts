import middy from "@middy/core";
import type { SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import { bodyText, type WebhookBody } from "../../adapters/aws/body-text.ts";
import type { Receipt, RecordReceipts } from "../../adapters/dynamodb/event-table.ts";
import type { OverflowBucket } from "../../adapters/s3/overflow-bucket.ts";
import type { Send } from "../../adapters/sqs/sqs-sender.ts";
import { type Failure, failureOf } from "../../domain/core/failures.ts";
import { readEnvelope } from "../../domain/event/envelope.ts";
import { type IncomeEvent, withBelievableTime } from "../../domain/event/events.ts";
import { parseExact } from "../../domain/event/lossless-json.ts";
import { type KindMapping, mapPayload, type Search } from "../../domain/event/mapping.ts";
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
  const outcomeOf = new Map(receipts.map((receipt, index) => [receipt, outcomes[index]]));
  return read.map((each) => {
    const outcome = isReceipt(each) ? outcomeOf.get(each) : each;
    return outcome === "first" || outcome === "again" ? undefined : outcome;
  });
}

async function readReceipt(
  { body: message, messageId, attributes }: SQSRecord,
  dependencies: ConsumerDependencies,
): Promise<Receipt> {
  const { id, kind, receivedAt, headers, body } = readEnvelope(message);
  const isReconciled = body.as === "facts";
  const facts = isReconciled
    ? body.facts
    : withBelievableTime(await mapBody(body, headers, dependencies), receivedAt);
  const event = { ...facts, id, kind, receivedAt, ...(isReconciled ? { reconciled: true as const } : {}) };
  return { event, body, message: { id: messageId, sentAt: Number(attributes.SentTimestamp) } };
}

async function mapBody(
  body: WebhookBody,
  headers: MappedHeaders | undefined,
  { overflow, mapping, search }: ConsumerDependencies,
) {
  return mapPayload(mapping, parseExact(await bodyText(body, overflow), "the body"), search, headers);
}

function isReceipt(value: Receipt | Failure): value is Receipt {
  return "event" in value;
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
