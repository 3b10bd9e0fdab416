import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { jmespathSearch } from "../../../adapters/aws/jmespath-search.ts";
import { batchingWriter } from "../../../adapters/dynamodb/batching.ts";
import { canaryTable, eventTable } from "../../../adapters/dynamodb/event-table.ts";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import { type Body, bodyOf, type Envelope, identify, writeEnvelope } from "../../../domain/event/envelope.ts";
import type { KindMapping } from "../../../domain/event/mapping.ts";
import { type ConsumerDependencies, consumer } from "../../../functions/store/consumer.ts";
import { defaultMapping } from "../../../lib/settings/default-mapping.ts";
import { startTestSystem, type TestBucket, type TestSystem, type TestTable } from "../../support/engines.ts";
import { deliver, keptLog, type LogEntry, type SqsHandler } from "./lambda.ts";

export const receivedAt = "2026-11-21T12:00:00.000Z";

export function accountEvent(facts: Record<string, unknown> = {}) {
  return {
    event: "connect_account",
    account_id: randomUUID(),
    user_id: randomUUID(),
    connected: true,
    ...facts,
  };
}

export function envelopeOf(payload: unknown, body?: Body): Envelope {
  const raw = Buffer.from(typeof payload === "string" ? payload : JSON.stringify(payload));
  const id = identify("accounts", raw);
  return { schemaVersion: 1, kind: "accounts", id, receivedAt, body: body ?? bodyOf(raw) };
}

type Given = Pick<ConsumerDependencies, "record" | "overflow" | "send" | "mapping"> &
  Partial<ConsumerDependencies>;

export function consumerWith(given: Given): SqsHandler {
  const recordCanary = async () => undefined;
  const silent = { deadLetterQueueUrl: "dead", search: jmespathSearch, recordCanary, log: () => undefined };
  return consumer({ ...silent, ...given });
}

/** Fixture of the consumer's tests, new for each: the table, the queues, the consumer. */
export function consumerFixture(tables: string) {
  const made = {} as {
    system: TestSystem;
    table: TestTable;
    bucket: TestBucket;
    queueUrl: string;
    deadLetterQueueUrl: string;
    entries: LogEntry[];
  };

  beforeAll(async () => {
    made.system = await startTestSystem(tables);
  });
  afterAll(() => made.system.close());

  beforeEach(async () => {
    [made.table, made.bucket, made.queueUrl, made.deadLetterQueueUrl] = await Promise.all([
      made.system.createTable(),
      made.system.createBucket(),
      made.system.createQueue(),
      made.system.createQueue(),
    ]);
  });

  function consumerOf(mapping: KindMapping = defaultMapping.accounts): SqsHandler {
    const kept = keptLog();
    made.entries = kept.entries;
    return consumerWith({
      record: eventTable(made.system.dynamodb, made.table.name, 30),
      recordCanary: canaryTable(batchingWriter(made.system.dynamodb, made.table.name), () => new Date()),
      overflow: overflowBucket(made.bucket.name),
      send: sqsSender(made.system.sqs),
      deadLetterQueueUrl: made.deadLetterQueueUrl,
      mapping,
      log: kept.log,
    });
  }

  const put = (...envelopes: readonly Envelope[]) =>
    Promise.all(envelopes.map((envelope) => made.system.send(made.queueUrl, writeEnvelope(envelope))));
  /** Delivers a batch once. @returns the bodies of the messages that stay in the queue */
  const run = (mapping?: KindMapping, handler = consumerOf(mapping)) =>
    deliver(made.system, made.queueUrl, handler);
  const isEmpty = async () => (await made.system.drain(made.queueUrl)).length === 0;
  const deadLetters = async () =>
    (await made.system.drain(made.deadLetterQueueUrl)).map(({ Body, MessageAttributes }) => ({
      body: Body,
      reason: MessageAttributes?.reason?.StringValue,
    }));

  return Object.assign(made, {
    consumerOf,
    run,
    put,
    isEmpty,
    deadLetters,
  });
}
