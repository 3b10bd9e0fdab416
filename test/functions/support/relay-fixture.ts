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
import { publisher } from "../../../functions/runtime/subscriber-queues.ts";
import { receiptOf } from "../../adapters/dynamodb/receipt.ts";
import { contractMessage } from "../../support/contract-message.ts";
import { startTestSystem, type TestSystem } from "../../support/engines.ts";
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
  const fresh = async (system: TestSystem) => {
    const table = await system.createTable();
    const queuesOf = async (): Promise<Queues> => ({
      queueUrl: await system.createQueue(),
      deadLetterQueueUrl: await system.createQueue(),
    });
    const shared = {
      read: batchingReader(system.dynamodb, table.name),
      write: batchingWriter(system.dynamodb, table.name),
    };
    return {
      table,
      ...shared,
      bucket: await system.createBucket(),
      fetchQueueUrl: await system.createQueue({ FifoQueue: "true" }),
      eraseQueueUrl: await system.createQueue(),
      deadlineQueueUrl: await system.createQueue(),
      canaryQueueUrl: await system.createQueue(),
      subscribers: { everything: await queuesOf(), accounts: await queuesOf() },
      erasesOnDeletion: false,
      /** Absent: the settings map no attributes. */
      attributes: undefined as { readonly asks: boolean } | undefined,
      kept: keptLog(),
      readByRange: [] as string[],
      readiness: undefined as ReadinessSettings | undefined,
      now: () => new Date(),
      digestOf: subjectDigest(system.secretsManager, system.createSecret({ key: "of the stage" })),
      clock: serviceClock(system.dynamodb),
    };
  };
  const made = {} as Awaited<ReturnType<typeof fresh>> & { system: TestSystem; entries: LogEntry[] };
  beforeAll(async () => {
    made.system = await startTestSystem(tables, { countsCapacity: true });
  });
  afterAll(() => made.system.close());
  beforeEach(async () => {
    Object.assign(made, await fresh(made.system));
    made.entries = made.kept.entries;
  });

  const overflow = () => overflowBucket(made.bucket.name, made.system.s3);
  const joined = () => [
    { name: "everything", ...made.subscribers.everything },
    { name: "accounts", types: ["account.*"], ...made.subscribers.accounts },
  ];
  const publisherTo = (subscribers: ReturnType<typeof joined>) => {
    const retries = { waitsMs: [], wait: async () => undefined, now: () => made.now() };
    return publisher(sqsSender(made.system.sqs), subscribers, made.kept.log, { retries });
  };
  const dependencies = (): RelayDependencies => {
    const { dynamodb } = made.system;
    const { read, write, clock } = made;
    const now = () => made.now();
    return {
      versionedRecords: sharedRecords({ read, write }),
      link: linkTable(write),
      removeSuperseded: supersededRemover(read, overflow()),
      findErased: findErased(read, made.digestOf, { seconds: 0 }),
      readiness: made.readiness && {
        records: readinessRecords(read, write),
        partitions: partitions(dynamodb, made.table.name),
        ...{ settings: made.readiness, clock },
      },
      send: sqsSender(made.system.sqs),
      queues: {
        ...{ fetch: made.fetchQueueUrl, erase: made.eraseQueueUrl, deadlines: made.deadlineQueueUrl },
        canary: made.canaryQueueUrl,
      },
      publish: publisherTo(joined()),
      marks: recordMarks(dynamodb, made.table.name, now),
      park: parkedChanges(overflow(), now),
      now,
      erasesOnDeletion: made.erasesOnDeletion,
      attributes: made.attributes,
      settings: {
        source,
        readByRange: made.readByRange,
        readiness: made.readiness,
        documentsUrl: "https://reads.example/",
      },
      log: made.kept.log,
    };
  };
  const handler: RelayHandler = (event) => relay(dependencies())(event);
  const resend = () =>
    resendParked(dependencies(), {
      publishTo: new Map(joined().map((each) => [each.name, publisherTo([each])])),
      parked: () => parkedBatches(overflow()),
      lastsSeconds: 900,
      longestRunSeconds: 60,
    });
  /** Writes a subject's tombstone. */
  const bury = async (subject: Subject) =>
    tombstones(made.system.dynamodb, made.table.name, 1, () => new Date()).place(
      await made.digestOf(subject),
      undefined,
    );

  /** Stores events in order, as the consumer does. */
  async function record(...events: readonly IncomeEvent[]): Promise<void> {
    const write = eventTable(made.system.dynamodb, made.table.name, 30);
    for (const event of events) await write([receiptOf(event)]);
  }

  const relayed = async () =>
    (await made.table.stream()).filter((record) => isRelayed(record, made.readiness?.endpoints));
  const invoke = (records: readonly unknown[]) => handler({ Records: lambdaRecords(records) });

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
    handler,
    resend,
    bury,
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
