import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { jmespathSearch } from "../../../adapters/aws/jmespath-search.ts";
import { eventTable } from "../../../adapters/dynamodb/event-table.ts";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import { type Body, bodyOf, type Envelope, writeEnvelope } from "../../../domain/event/envelope.ts";
import { identify } from "../../../domain/event/identify.ts";
import type { KindMapping } from "../../../domain/event/mapping.ts";
import { consumer } from "../../../functions/store/consumer.ts";
import { defaultMapping } from "../../../lib/settings/default-mapping.ts";
import { startTestSystem, type TestBucket, type TestSystem, type TestTable } from "../../support/engines.ts";
import { keptLog, type LogEntry, type SqsHandler } from "./lambda.ts";

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

/** What the consumer's tests share, made again for each: the table, the queues, the consumer itself. */
export function consumerFixture(tables: string) {
  let system: TestSystem;
  let table: TestTable;
  let bucket: TestBucket;
  let queueUrl: string;
  let deadLetterQueueUrl: string;
  let entries: LogEntry[];

  beforeAll(async () => {
    system = await startTestSystem(tables);
  });
  afterAll(() => system.close());

  beforeEach(async () => {
    [table, bucket, queueUrl, deadLetterQueueUrl] = await Promise.all([
      system.createTable(),
      system.createBucket(),
      system.createQueue(),
      system.createQueue(),
    ]);
  });

  function consumerOf(mapping: KindMapping = defaultMapping.accounts): SqsHandler {
    const kept = keptLog();
    entries = kept.entries;
    return consumer({
      record: eventTable(system.dynamodb, table.name, 30),
      overflow: overflowBucket(bucket.name),
      send: sqsSender(system.sqs),
      deadLetterQueueUrl,
      mapping,
      search: jmespathSearch,
      log: kept.log,
    });
  }

  const put = (...envelopes: readonly Envelope[]) =>
    Promise.all(envelopes.map((envelope) => system.send(queueUrl, writeEnvelope(envelope))));
  const isEmpty = async () => (await system.drain(queueUrl)).length === 0;
  const deadLetters = async () =>
    (await system.drain(deadLetterQueueUrl)).map(({ Body, MessageAttributes }) => ({
      body: Body,
      reason: MessageAttributes?.reason?.StringValue,
    }));

  return {
    get system() {
      return system;
    },
    get table() {
      return table;
    },
    get bucket() {
      return bucket;
    },
    get queueUrl() {
      return queueUrl;
    },
    get deadLetterQueueUrl() {
      return deadLetterQueueUrl;
    },
    get entries() {
      return entries;
    },
    consumerOf,
    put,
    isEmpty,
    deadLetters,
  };
}
