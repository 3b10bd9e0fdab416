import { randomUUID } from "node:crypto";
import type { _Record } from "@aws-sdk/client-dynamodb-streams";
import { DeleteQueueCommand } from "@aws-sdk/client-sqs";
import type { DynamoDBRecord } from "aws-lambda";
import { beforeEach, describe, expect, test } from "vitest";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { parkedBatches, recordMarks } from "../../../adapters/streams/change-stream.ts";
import { failedBatches } from "../../../adapters/streams/undelivered-changes.ts";
import { runMarked } from "../../../functions/relay/parking.ts";
import { describeOnTables } from "../../support/engines.ts";
import { accountEvent, relayFixture } from "../support/relay-fixture.ts";
import { allDone, failedFrom, lambdaRecords } from "../support/relayed-records.ts";

function without<T extends object>(fields: T | undefined, name: keyof T): T {
  const { [name]: _, ...rest } = JSON.parse(JSON.stringify(fields ?? {}));
  return rest;
}

function withImage(record: DynamoDBRecord, image: object): DynamoDBRecord {
  return JSON.parse(JSON.stringify({ ...record, dynamodb: { ...record.dynamodb, NewImage: image } }));
}

await describeOnTables("the relay", (tables) => {
  const fixture = relayFixture(tables);
  /** Numbers of the records that `repair --failures` finds. */
  const parked = async () => {
    const numbers: unknown[] = [];
    for await (const batch of failedBatches(fixture.system.s3, fixture.bucket.name))
      numbers.push(...(await batch.read()).map(({ dynamodb }) => dynamodb?.SequenceNumber));
    return numbers;
  };
  const { record, relayed, invoke, pump, tasks, messages, itemsBy } = fixture;

  describe("a record that will never succeed is parked at once, and holds up no other:", () => {
    const malformed: readonly [string, (record: DynamoDBRecord) => DynamoDBRecord][] = [
      ["no image", ({ dynamodb, ...rest }) => ({ ...rest, dynamodb: without(dynamodb, "NewImage") })],
      ["no sort key", (record) => withImage(record, { pk: { S: "USER#x" } })],
      [
        "a sort key that the filter should have left out",
        (record) => withImage(record, { sk: { S: "LEASE#x" } }),
      ],
      [
        "an event without receipts",
        (record) => withImage(record, { ...record.dynamodb?.NewImage, receipts: undefined }),
      ],
      [
        "a document of another shape",
        (record) => withImage(record, { sk: { S: "DOCUMENT#income" }, document: { S: "x" } }),
      ],
    ];

    test.each(malformed)("%s", async (_, corrupt) => {
      const events = Array.from({ length: 5 }, () => accountEvent());
      await record(...events);
      const records = lambdaRecords(await relayed()).map((record, index) =>
        index === 1 || index === 3 ? corrupt(record) : record,
      );
      expect(await fixture.handler({ Records: records })).toEqual(allDone);
      expect((await itemsBy("STATE")).map(({ pk }) => pk).toSorted()).toEqual(
        [0, 2, 4].map((index) => `ACCOUNT#${events[index]?.accountId}`).toSorted(),
      );
      expect(fixture.entries).toMatchObject([
        { code: "RECORD_PARKED", reason: expect.any(String) },
        { code: "RECORD_PARKED", reason: expect.any(String) },
        { code: "RELAYED", count: 3 },
      ]);
      expect((await parked()).toSorted()).toEqual(
        [1, 3].map((index) => records[index]?.dynamodb?.SequenceNumber).toSorted(),
      );
    });

    test("which is reported to repair, that keeps it, and not parked again", async () => {
      await record(accountEvent());
      const Records = lambdaRecords(await relayed()).map((each) => withImage(each, { pk: { S: "USER#x" } }));
      expect(await fixture.handler({ Records, parks: false })).toEqual(failedFrom(Records[0]));
      expect(await parked()).toEqual([]);
    });

    test("which is reported while the bucket refuses it", async () => {
      await record(accountEvent());
      const records = lambdaRecords(await relayed()).map((each) => withImage(each, { pk: { S: "USER#x" } }));
      const working = fixture.system.fail("s3:PutObject");
      expect(await fixture.handler({ Records: records })).toEqual(failedFrom(records[0]));
      working();
    });

    test("a record without a sequence number fails the batch: it is never dropped", async () => {
      await expect(invoke([{ eventName: "INSERT" }])).rejects.toThrow("NewImage: missing");
    });
  });

  test("a record that ends the process is parked after five times", async () => {
    await record(accountEvent());
    const records = lambdaRecords(await relayed());
    const number = records[0]?.dynamodb?.SequenceNumber;
    // Lambda delivers it alone, and has retried for a long time.
    fixture.now = () => new Date(Date.now() + 120_000);
    const marks = recordMarks(fixture.system.dynamodb, fixture.table.name, fixture.now);
    for (let times = 0; times < 5; times += 1) {
      const { promise: isWorking, resolve: begin } = Promise.withResolvers<void>();
      const endsTheProcess = () => {
        begin();
        return new Promise<never>(() => undefined);
      };
      const park = () => Promise.reject(new Error("too early"));
      void runMarked(records, endsTheProcess, {
        marks,
        park,
        now: fixture.now,
        log: () => undefined,
      });
      await isWorking;
    }
    expect(await fixture.handler({ Records: records })).toEqual(allDone);
    expect(await parked()).toEqual([number]);
    expect(fixture.entries).toMatchObject([
      {
        code: "RECORD_PARKED",
        messageId: number,
        reason: "the process ended 5 times while it worked on this record",
      },
    ]);
  });

  test("a record that fails without ending the process is retried indefinitely", async () => {
    await record(accountEvent());
    const records = await relayed();
    fixture.now = () => new Date(Date.now() + 120_000);
    const working = fixture.system.fail("dynamodb:BatchExecuteStatement");
    for (let times = 0; times < 7; times += 1)
      expect(await invoke(records)).toMatchObject({ batchItemFailures: [{}] });
    working();
    expect(await parked()).toEqual([]);
    expect(await invoke(records)).toEqual(allDone);
  });

  test("while the table can't be written to, the first record is reported; once it can, nothing is missing", async () => {
    await record(accountEvent(), accountEvent());
    const records = await relayed();
    const working = fixture.system.fail("dynamodb:BatchExecuteStatement");
    expect(await invoke(records)).toEqual(failedFrom(records[0]));
    working();
    await pump();
    expect(await messages(fixture.subscribers.everything.queueUrl)).toHaveLength(2);
  });

  test("after a write that failed, later events of the same account wait for it, and do not overtake it", async () => {
    const accountId = randomUUID();
    await record(accountEvent({ accountId }), accountEvent({ accountId, type: "account.disconnected" }));
    const records = await relayed();
    let puts = 0;
    const working = fixture.system.intercept(async ({ action }, phase) => {
      if (action !== "dynamodb:BatchExecuteStatement" || phase !== "before") return undefined;
      puts += 1;
      return puts === 1 ? { status: 500, errorType: "InternalServerError", message: "injected" } : undefined;
    });
    expect(await invoke(records)).toEqual(failedFrom(records[0]));
    working();
    await pump();
    expect(await fixture.table.item(`ACCOUNT#${accountId}`, "STATE")).toMatchObject({
      state: { version: 2, connected: true, unconfirmed: true },
    });
  });

  describe("with the states of three accounts", () => {
    let states: readonly _Record[];
    let correlationIds: unknown;

    beforeEach(async () => {
      const recorded = [accountEvent(), accountEvent(), accountEvent()];
      correlationIds = expect.toSatisfy((ids: string[]) =>
        recorded.every(({ id }, _, { length }) => ids.length === length && ids.includes(id)),
      );
      await record(...recorded);
      const events = await relayed();
      await invoke(events);
      states = (await relayed()).slice(events.length);
      expect(states).toHaveLength(3);
    });

    const first = () => failedFrom(states[0]);
    const lose = (queueUrl: string) =>
      fixture.system.sqs.send(new DeleteQueueCommand({ QueueUrl: queueUrl }));

    test("the changes of a subscriber whose queue is missing are parked for it alone, and delay nobody", async () => {
      await lose(fixture.subscribers.everything.queueUrl);
      expect(await invoke(states)).toEqual(allDone);
      expect(await messages(fixture.subscribers.accounts.queueUrl)).toHaveLength(3);
      expect(await tasks()).toHaveLength(3);
      const parked = await parkedBatches(overflowBucket(fixture.bucket.name));
      expect([...parked.keys()]).toEqual(["everything"]);
      const [batch, ...others] = parked.get("everything") ?? [];
      expect([(await batch?.read())?.length, others]).toEqual([3, []]);
      expect(fixture.entries.slice(-2)).toMatchObject([
        { code: "SUBSCRIBER_PARKED", subscriber: "everything", count: 3, correlationIds },
        { code: "RELAYED", count: 3, messages: 3, tasks: 3, correlationIds },
      ]);
    });

    test("a subscriber whose queue is gone, and for whom nothing can be parked, has the records reported", async () => {
      await lose(fixture.subscribers.everything.queueUrl);
      fixture.bucket = { ...fixture.bucket, name: "no-such-bucket" };
      expect(await invoke(states)).toEqual(first());
      expect(await messages(fixture.subscribers.accounts.queueUrl)).toHaveLength(3);
      expect(await tasks()).toHaveLength(3);
    });

    test("a missing fetch queue fails the records, and subscribers get their messages", async () => {
      await lose(fixture.fetchQueueUrl);
      expect(await invoke(states)).toEqual(first());
      for (const { queueUrl } of Object.values(fixture.subscribers))
        expect(await messages(queueUrl)).toHaveLength(3);
    });

    test("a link that can't be written has its record reported, and delays no message", async () => {
      const event = accountEvent({ userId: randomUUID() });
      await record(event);
      const all = await relayed();
      await invoke(all.slice(-1));
      const [state] = (await relayed()).slice(all.length);
      const working = fixture.system.fail("dynamodb:BatchExecuteStatement");
      expect(await invoke([state])).toEqual(failedFrom(state));
      working();
      expect(await messages(fixture.subscribers.everything.queueUrl)).toMatchObject([{ id: event.id }]);
      expect(await invoke([state])).toEqual(allDone);
      expect(await fixture.table.item(`USER#${event.userId}`, `ACCOUNT#${event.accountId}`)).toBeDefined();
      expect(await messages(fixture.subscribers.everything.queueUrl)).toMatchObject([{ id: event.id }]);
    });
  });
});
