import { randomUUID } from "node:crypto";
import { DeleteMessageCommand } from "@aws-sdk/client-sqs";
import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from "aws-lambda";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { eventTable } from "../../../adapters/dynamodb/event-table.ts";
import { linkTable } from "../../../adapters/dynamodb/links.ts";
import { sharedReads } from "../../../adapters/dynamodb/shared-reads.ts";
import { sharedWrites } from "../../../adapters/dynamodb/shared-writes.ts";
import { supersededRemover } from "../../../adapters/dynamodb/superseded-objects.ts";
import { versionedRecords } from "../../../adapters/dynamodb/versioned-records.ts";
import { subjectDigest } from "../../../adapters/erasure/subject-digest.ts";
import { findErased, tombstones } from "../../../adapters/erasure/tombstones.ts";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import { outbox } from "../../../functions/relay/outbox.ts";
import { relay } from "../../../functions/relay/relay.ts";
import { publisher } from "../../../functions/runtime/subscriber-queues.ts";
import { receiptOf } from "../../adapters/dynamodb/receipt.ts";
import { contractMessage } from "../../support/contract-message.ts";
import { startTestSystem, type TestBucket, type TestSystem, type TestTable } from "../../support/engines.ts";
import { keptLog, type LogEntry } from "./lambda.ts";
import { isRelayed, lambdaRecords } from "./relayed-records.ts";

export const source = "/income-events/test";

export const names = ["everything", "accounts"] as const;

type Queues = { readonly queueUrl: string; readonly deadLetterQueueUrl: string };

type RelayHandler = (event: DynamoDBStreamEvent) => Promise<DynamoDBBatchResponse>;

export function accountEvent(facts: Partial<IncomeEvent> = {}): IncomeEvent {
  return {
    id: randomUUID(),
    kind: "accounts",
    type: "account.connected",
    accountId: randomUUID(),
    receivedAt: "2026-11-21T12:00:00.000Z",
    ...facts,
  };
}

/** What the relay's tests share, made again for each: the table with its stream, the queues, the relay itself. */
export function relayFixture(tables: string) {
  let system: TestSystem;
  let table: TestTable;
  let bucket: TestBucket;
  let fetchQueueUrl: string;
  let eraseQueueUrl: string;
  let erasesOnDeletion: boolean;
  let subscribers: Readonly<Record<(typeof names)[number], Queues>>;
  let entries: LogEntry[];
  let readByRange: string[];
  /** Places a subject's tombstone. */
  let bury: (subject: Subject) => Promise<void>;
  let handler: RelayHandler;

  beforeAll(async () => {
    system = await startTestSystem(tables);
  });
  afterAll(() => system.close());

  beforeEach(async () => {
    const queuesOf = async (): Promise<Queues> => ({
      queueUrl: await system.createQueue(),
      deadLetterQueueUrl: await system.createQueue(),
    });
    table = await system.createTable();
    bucket = await system.createBucket();
    fetchQueueUrl = await system.createQueue({ FifoQueue: "true" });
    eraseQueueUrl = await system.createQueue();
    erasesOnDeletion = false;
    subscribers = { everything: await queuesOf(), accounts: await queuesOf() };
    const kept = keptLog();
    entries = kept.entries;
    readByRange = [];
    const joined = [
      { name: "everything", ...subscribers.everything },
      { name: "accounts", types: ["account.*"], ...subscribers.accounts },
    ];
    const send = sqsSender(system.sqs);
    const digestOf = subjectDigest(system.secretsManager, system.createSecret({ key: "of the stage" }));
    const shared = {
      read: sharedReads(system.dynamodb, table.name),
      write: sharedWrites(system.dynamodb, table.name),
    };
    handler = (event) =>
      relay({
        versionedRecords: versionedRecords(system.dynamodb, table.name, shared),
        link: linkTable(shared.write),
        removeSuperseded: supersededRemover(shared.read, overflowBucket(bucket.name).remove),
        findErased: findErased(shared.read, digestOf),
        outbox: outbox(
          send,
          { fetch: fetchQueueUrl, erase: eraseQueueUrl },
          publisher(send, joined, kept.log),
        ),
        erasesOnDeletion,
        settings: { source, readByRange, documentsUrl: "https://reads.example/" },
        log: kept.log,
      })(event);
    bury = async (subject) => {
      const place = tombstones(system.dynamodb, table.name, 1, () => new Date());
      await place.place(await digestOf(subject), undefined);
    };
  });

  /** Records events, in order, as the consumer does. */
  async function record(...events: readonly IncomeEvent[]): Promise<void> {
    const write = eventTable(system.dynamodb, table.name, 30);
    for (const event of events) await write([receiptOf(event)]);
  }

  const relayed = async () => (await table.stream()).filter(isRelayed);
  const invoke = (records: readonly unknown[]) => handler({ Records: lambdaRecords(records) });

  /** Hands over the stream from a record on, until nothing new comes. @returns how many records there are */
  async function pump(from = 0): Promise<number> {
    let next = from;
    for (let all = await relayed(); all.length > next; all = await relayed()) {
      expect(await invoke(all.slice(next))).toEqual({ batchItemFailures: [] });
      next = all.length;
    }
    return next;
  }

  /** Takes all messages out of a queue, so that the next of their groups can be received. */
  const bodiesOf = async (queueUrl: string) => {
    const messages = await system.drain(queueUrl);
    for (const { ReceiptHandle } of messages)
      await system.sqs.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle }));
    return messages.map(({ Body = "" }) => Body);
  };
  const tasks = async () => (await bodiesOf(fetchQueueUrl)).map((body): unknown => JSON.parse(body));
  const messages = async (queueUrl: string) => (await bodiesOf(queueUrl)).map(contractMessage);
  const itemsBy = async (sortKey: string) => (await table.all()).filter(({ sk }) => sk === sortKey);

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
    get fetchQueueUrl() {
      return fetchQueueUrl;
    },
    get eraseQueueUrl() {
      return eraseQueueUrl;
    },
    get erasesOnDeletion() {
      return erasesOnDeletion;
    },
    set erasesOnDeletion(value) {
      erasesOnDeletion = value;
    },
    get subscribers() {
      return subscribers;
    },
    get entries() {
      return entries;
    },
    get readByRange() {
      return readByRange;
    },
    get bury() {
      return bury;
    },
    get handler() {
      return handler;
    },
    record,
    relayed,
    invoke,
    pump,
    bodiesOf,
    tasks,
    messages,
    itemsBy,
  };
}
