import { randomUUID } from "node:crypto";
import { DeleteMessageCommand } from "@aws-sdk/client-sqs";
import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from "aws-lambda";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { serviceClock } from "../../../adapters/aws/client.ts";
import { batchingReader, batchingWriter } from "../../../adapters/dynamodb/batching.ts";
import { supersededRemover } from "../../../adapters/dynamodb/documents.ts";
import { eventTable, linkTable, partitions } from "../../../adapters/dynamodb/event-table.ts";
import { readinessRecords, sharedRecords } from "../../../adapters/dynamodb/versioned-records.ts";
import { findErased, subjectDigest } from "../../../adapters/erasure/find-erased.ts";
import { tombstones } from "../../../adapters/erasure/tombstones.ts";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import { parkedBatches, parkedChanges, recordMarks } from "../../../adapters/streams/change-stream.ts";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import type { ReadinessSettings } from "../../../domain/readiness/readiness.ts";
import type { RelayDependencies } from "../../../functions/relay/derive.ts";
import { resendParked } from "../../../functions/relay/parking.ts";
import { relay } from "../../../functions/relay/relay.ts";
import { publisher, type Retries } from "../../../functions/runtime/subscriber-queues.ts";
import { receiptOf } from "../../adapters/dynamodb/receipt.ts";
import { contractMessage } from "../../support/contract-message.ts";
import { startTestSystem, type TestBucket, type TestSystem, type TestTable } from "../../support/engines.ts";
import { keptLog, type LogEntry } from "./lambda.ts";
import { isRelayed, lambdaRecords } from "./relayed-records.ts";

export const source = "/income-events/test";

export const names = ["everything", "accounts"] as const;

type Queues = { readonly queueUrl: string; readonly deadLetterQueueUrl: string };

type RelayHandler = (
  event: DynamoDBStreamEvent & { readonly parks?: boolean },
) => Promise<DynamoDBBatchResponse>;

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

/** Fixture of the relay's tests, new for each: the table with its stream, the queues, the relay. */
export function relayFixture(tables: string) {
  const made = {} as {
    system: TestSystem;
    table: TestTable;
    bucket: TestBucket;
    fetchQueueUrl: string;
    eraseQueueUrl: string;
    deadlineQueueUrl: string;
    canaryQueueUrl: string;
    erasesOnDeletion: boolean;
    /** Absent: the settings map no attributes. */
    attributes: { readonly asks: boolean } | undefined;
    subscribers: Readonly<Record<(typeof names)[number], Queues>>;
    entries: LogEntry[];
    readByRange: string[];
    readiness: ReadinessSettings | undefined;
    now: () => Date;
    retries: Retries;
    resend: () => Promise<void>;
    /** Writes a subject's tombstone. */
    bury: (subject: Subject) => Promise<void>;
    handler: RelayHandler;
  };

  beforeAll(async () => {
    made.system = await startTestSystem(tables, { countsCapacity: true });
  });
  afterAll(() => made.system.close());

  beforeEach(async () => {
    const queuesOf = async (): Promise<Queues> => ({
      queueUrl: await made.system.createQueue(),
      deadLetterQueueUrl: await made.system.createQueue(),
    });
    made.table = await made.system.createTable();
    made.bucket = await made.system.createBucket();
    made.fetchQueueUrl = await made.system.createQueue({ FifoQueue: "true" });
    made.eraseQueueUrl = await made.system.createQueue();
    made.deadlineQueueUrl = await made.system.createQueue();
    made.canaryQueueUrl = await made.system.createQueue();
    made.erasesOnDeletion = false;
    made.attributes = undefined;
    made.subscribers = { everything: await queuesOf(), accounts: await queuesOf() };
    const kept = keptLog();
    made.entries = kept.entries;
    made.readByRange = [];
    made.readiness = undefined;
    made.now = () => new Date();
    made.retries = { waitsMs: [], wait: async () => undefined, now: () => made.now() };
    const joined = [
      { name: "everything", ...made.subscribers.everything },
      { name: "accounts", types: ["account.*"], ...made.subscribers.accounts },
    ];
    const send = sqsSender(made.system.sqs);
    const digestOf = subjectDigest(
      made.system.secretsManager,
      made.system.createSecret({ key: "of the stage" }),
    );
    const shared = {
      read: batchingReader(made.system.dynamodb, made.table.name),
      write: batchingWriter(made.system.dynamodb, made.table.name),
    };
    const clock = serviceClock(made.system.dynamodb);
    const dependencies = (): RelayDependencies => {
      return {
        versionedRecords: sharedRecords(shared),
        link: linkTable(shared.write),
        removeSuperseded: supersededRemover(shared.read, overflowBucket(made.bucket.name)),
        findErased: findErased(shared.read, digestOf, { seconds: 0 }),
        readiness: made.readiness && {
          records: readinessRecords(shared.read, shared.write),
          partitions: partitions(made.system.dynamodb, made.table.name),
          ...{ settings: made.readiness, clock },
        },
        send,
        queues: {
          ...{ fetch: made.fetchQueueUrl, erase: made.eraseQueueUrl, deadlines: made.deadlineQueueUrl },
          canary: made.canaryQueueUrl,
        },
        publish: publisher(send, joined, kept.log, { retries: made.retries }),
        marks: recordMarks(made.system.dynamodb, made.table.name, made.now),
        park: parkedChanges(overflowBucket(made.bucket.name, made.system.s3), made.now),
        now: made.now,
        erasesOnDeletion: made.erasesOnDeletion,
        attributes: made.attributes,
        settings: {
          source,
          readByRange: made.readByRange,
          readiness: made.readiness,
          documentsUrl: "https://reads.example/",
        },
        log: kept.log,
      };
    };
    made.handler = (event) => relay(dependencies())(event);
    made.resend = () =>
      resendParked(dependencies(), {
        publishTo: new Map(
          joined.map((each) => [each.name, publisher(send, [each], kept.log, { retries: made.retries })]),
        ),
        parked: () => parkedBatches(overflowBucket(made.bucket.name, made.system.s3)),
        lastsSeconds: 900,
        longestRunSeconds: 60,
      });
    made.bury = async (subject) => {
      const place = tombstones(made.system.dynamodb, made.table.name, 1, () => new Date());
      await place.place(await digestOf(subject), undefined);
    };
  });

  /** Stores events in order, as the consumer does. */
  async function record(...events: readonly IncomeEvent[]): Promise<void> {
    const write = eventTable(made.system.dynamodb, made.table.name, 30);
    for (const event of events) await write([receiptOf(event)]);
  }

  const relayed = async () =>
    (await made.table.stream()).filter((record) => isRelayed(record, made.readiness?.endpoints));
  const invoke = (records: readonly unknown[]) => made.handler({ Records: lambdaRecords(records) });

  /**
   * Delivers the stream from a record on, until nothing new arrives.
   * @returns the number of records
   */
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
    const messages = await made.system.drain(queueUrl);
    for (const { ReceiptHandle } of messages)
      await made.system.sqs.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle }));
    return messages.map(({ Body = "" }) => Body);
  };
  const tasks = async () => (await bodiesOf(made.fetchQueueUrl)).map((body): unknown => JSON.parse(body));
  const messages = async (queueUrl: string) => (await bodiesOf(queueUrl)).map(contractMessage);
  const itemsBy = async (sortKey: string) => (await made.table.all()).filter(({ sk }) => sk === sortKey);

  return Object.assign(made, {
    record,
    relayed,
    invoke,
    pump,
    bodiesOf,
    tasks,
    messages,
    itemsBy,
  });
}
