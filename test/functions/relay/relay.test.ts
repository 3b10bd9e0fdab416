import { randomUUID } from "node:crypto";
import type { _Record } from "@aws-sdk/client-dynamodb-streams";
import { DeleteQueueCommand } from "@aws-sdk/client-sqs";
import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from "aws-lambda";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { eventTable } from "../../../adapters/dynamodb/event-table.ts";
import { revisions } from "../../../adapters/dynamodb/versioned-records.ts";
import { subjectDigest } from "../../../adapters/erasure/subject-digest.ts";
import { findErased, tombstones } from "../../../adapters/erasure/tombstones.ts";
import { linkTable } from "../../../adapters/s3/links.ts";
import { sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import type { Message } from "../../../domain/message/message-schemas.ts";
import { type EraseTask, eraseTask, readEraseTask } from "../../../domain/recovery/erasure.ts";
import { settle } from "../../../domain/state/state.ts";
import { outbox } from "../../../functions/relay/outbox.ts";
import { relay } from "../../../functions/relay/relay.ts";
import { joinQueues, publisher } from "../../../functions/runtime/subscriber-queues.ts";
import { contractMessage } from "../../support/contract-message.ts";
import { describeOnTables, startTestSystem, type TestSystem, type TestTable } from "../../support/engines.ts";
import { keptLog, type LogEntry } from "../support/lambda.ts";
import { isRelayed, lambdaRecords } from "../support/relayed-records.ts";

const source = "/income-events/test";
const names = ["everything", "accounts"] as const;
type Queues = { readonly queueUrl: string; readonly deadLetterQueueUrl: string };
type RelayHandler = (event: DynamoDBStreamEvent) => Promise<DynamoDBBatchResponse>;

function accountEvent(facts: Partial<IncomeEvent> = {}): IncomeEvent {
  return {
    id: randomUUID(),
    kind: "accounts",
    type: "account.connected",
    accountId: randomUUID(),
    receivedAt: "2026-11-21T12:00:00.000Z",
    ...facts,
  };
}

await describeOnTables("the relay", (tables) => {
  let system: TestSystem;
  let table: TestTable;
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
    fetchQueueUrl = await system.createQueue();
    eraseQueueUrl = await system.createQueue();
    erasesOnDeletion = false;
    subscribers = { everything: await queuesOf(), accounts: await queuesOf() };
    const kept = keptLog();
    entries = kept.entries;
    readByRange = [];
    const joined = joinQueues(
      [{ name: "everything" }, { name: "accounts", types: ["account.*"] }],
      subscribers,
    );
    const send = sqsSender(system.sqs);
    const digestOf = subjectDigest(system.secretsManager, system.createSecret({ key: "of the stage" }));
    handler = (event) =>
      relay({
        revisions: revisions(system.dynamodb, table.name),
        link: linkTable(system.dynamodb, table.name),
        findErased: findErased(system.dynamodb, table.name, digestOf),
        outbox: outbox(
          send,
          { fetch: fetchQueueUrl, erase: eraseQueueUrl },
          publisher(send, joined, kept.log),
        ),
        readByRange,
        erasesOnDeletion,
        eventSource: source,
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
    for (const event of events) await write({ event, body: { as: "text", text: "{}" } });
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

  const bodiesOf = async (queueUrl: string) => (await system.drain(queueUrl)).map(({ Body = "" }) => Body);
  const tasks = async () => (await bodiesOf(fetchQueueUrl)).map((body): unknown => JSON.parse(body));
  const messages = async (queueUrl: string) => (await bodiesOf(queueUrl)).map(contractMessage);
  const itemsBy = async (sortKey: string) => (await table.all()).filter(({ sk }) => sk === sortKey);

  describe("an account that connects", () => {
    const accountId = randomUUID();
    const userId = randomUUID();
    const event = accountEvent({ accountId, userId, datasourceId: "uber" });

    test("becomes a state, a link to its user, a task to start its fetch, and a message to each subscriber", async () => {
      await record(event);
      await pump();
      expect(await table.item(`ACCOUNT#${accountId}`, "STATE")).toMatchObject({
        version: 1,
        state: { version: 1, connected: true, deleted: false, unconfirmed: false, userId },
      });
      expect(await table.item(`USER#${userId}`, `ACCOUNT#${accountId}`)).toBeDefined();
      expect(await tasks()).toEqual([
        {
          schemaVersion: 1,
          attempts: 0,
          correlationId: event.id,
          task: "start",
          subject: { kind: "account", id: accountId },
          version: 1,
        },
      ]);
      const message: Message = {
        specversion: "1.0",
        id: event.id,
        source,
        type: "account.connected",
        subject: `account/${accountId}`,
        time: event.receivedAt,
        datacontenttype: "application/json",
        sequence: "00000000000000000001",
        correlationid: event.id,
        data: {
          accountId,
          userId,
          datasourceId: "uber",
          connected: true,
          deleted: false,
          unconfirmed: false,
          outcome: "applied",
        },
      };
      for (const name of names) expect(await messages(subscribers[name].queueUrl)).toEqual([message]);
    });
  });

  test("an endpoint's event becomes a wanted data set, a task to read it, and a message to who wants it", async () => {
    const event = accountEvent({ kind: "endpoints", type: "endpoint.updated", endpoint: "income" });
    await record(event);
    await pump();
    const subject = { kind: "account", id: event.accountId };
    expect(await table.item(`ACCOUNT#${event.accountId}`, "DATA#income")).toMatchObject({
      data: { subject, endpoint: "income", version: 1, wanted: 1, done: 0 },
    });
    expect(await tasks()).toEqual([
      {
        schemaVersion: 1,
        attempts: 0,
        correlationId: event.id,
        task: "read",
        subject,
        endpoint: "income",
        wanted: 1,
      },
    ]);
    expect(await messages(subscribers.everything.queueUrl)).toMatchObject([
      { id: event.id, type: "endpoint.updated", subject: `account/${event.accountId}/income` },
    ]);
    expect(await messages(subscribers.accounts.queueUrl)).toEqual([]);
  });

  describe("an endpoint's event that tells dates", () => {
    const range = { start: "2026-01-01", end: "2026-01-31" };
    const accountId = randomUUID();
    const event = accountEvent({
      accountId,
      kind: "endpoints",
      type: "endpoint.updated",
      endpoint: "income",
      dateStart: range.start,
      dateEnd: range.end,
    });
    const subject = { kind: "account", id: accountId };
    const common = { schemaVersion: 1, attempts: 0, correlationId: event.id };
    const read = { ...common, task: "read", subject, endpoint: "income", wanted: 1 };

    test("wants the endpoint's whole where the settings know no path for dates", async () => {
      await record(event);
      await pump();
      expect(await table.item(`ACCOUNT#${accountId}`, "DATA#income")).toMatchObject({ data: { wanted: 1 } });
      expect(await tasks()).toEqual([read]);
    });

    test("wants these dates only where they do: each range is a data set of its own", async () => {
      readByRange.push("account");
      const other = { ...event, id: randomUUID(), dateStart: "2026-01-08" };
      await record(event, other);
      await pump();
      const later = { ...range, start: "2026-01-08" };
      for (const each of [range, later]) {
        const key = `DATA#income#${each.start}..${each.end}`;
        expect(await table.item(`ACCOUNT#${accountId}`, key)).toMatchObject({
          data: { subject, endpoint: "income", range: each, version: 1, wanted: 1, done: 0 },
        });
      }
      expect(await itemsBy("DATA#income")).toEqual([]);
      expect(new Set(await tasks())).toEqual(
        new Set([
          { ...read, range },
          { ...read, range: later, correlationId: other.id },
        ]),
      );
      expect(await messages(subscribers.everything.queueUrl)).toMatchObject([
        { data: { endpoint: "income", dateEnd: range.end } },
        { data: { endpoint: "income", dateEnd: range.end } },
      ]);
    });

    test("wants the whole where it tells one date only", async () => {
      readByRange.push("account");
      const { dateEnd: _, ...half } = event;
      await record(half);
      await pump();
      expect(await tasks()).toEqual([read]);
    });
  });

  test("events of one account are judged in the order of the stream, in one batch", async () => {
    const accountId = randomUUID();
    const at = (second: number) => `2026-11-21T10:00:0${second}.000Z`;
    await record(
      accountEvent({ accountId, type: "account.created", time: at(1) }),
      accountEvent({ accountId, type: "account.connected", time: at(2) }),
      accountEvent({ accountId, type: "account.disconnected", time: at(4) }),
      accountEvent({ accountId, type: "account.connected", time: at(3) }),
    );
    await pump();
    expect(await table.item(`ACCOUNT#${accountId}`, "STATE")).toMatchObject({
      state: { version: 4, connected: false, unconfirmed: false, asOf: at(4) },
    });
    const sent = await messages(subscribers.accounts.queueUrl);
    expect(sent.map(({ sequence, type, data }) => [Number(sequence), type, data]).toSorted()).toMatchObject([
      [1, "account.created", { outcome: "applied" }],
      [2, "account.connected", { outcome: "applied" }],
      [3, "account.disconnected", { outcome: "applied" }],
      [4, "account.connected", { outcome: "stale" }],
    ]);
  });

  test("a weak event that contradicts the state makes it unconfirmed and has the provider asked", async () => {
    const accountId = randomUUID();
    const connect = accountEvent({ accountId });
    const disconnect = accountEvent({ accountId, type: "account.disconnected" });
    await record(connect, disconnect);
    const relayedSoFar = await pump();
    const state = async () => table.item(`ACCOUNT#${accountId}`, "STATE");
    expect(await state()).toMatchObject({ state: { version: 2, connected: true, unconfirmed: true } });
    const ask = { task: "ask", subject: { kind: "account", id: accountId } };
    expect(await tasks()).toEqual([
      expect.objectContaining({ task: "start", version: 1 }),
      expect.objectContaining({ ...ask, version: 2 }),
    ]);
    // The same bytes again may be a late retry or a true repeat: while an answer is awaited, it is asked again.
    await record(disconnect);
    await pump(relayedSoFar);
    expect(await state()).toMatchObject({ state: { version: 3, unconfirmed: true } });
    expect(await tasks()).toEqual([expect.objectContaining({ ...ask, version: 3 })]);
  });

  test("a batch that comes again sends the same ids and sequences, and changes no item", async () => {
    const accountId = randomUUID();
    await record(
      accountEvent({ accountId, userId: randomUUID() }),
      accountEvent({ accountId, type: "account.updated" }),
      accountEvent({ accountId, kind: "endpoints", type: "endpoint.updated", endpoint: "income" }),
    );
    await pump();
    const before = await table.all();
    const sent = [await bodiesOf(subscribers.everything.queueUrl), await bodiesOf(fetchQueueUrl)];
    expect(sent.map(({ length }) => length)).toEqual([3, 2]);
    for (let time = 0; time < 2; time += 1) {
      expect(await invoke(await relayed())).toEqual({ batchItemFailures: [] });
      const again = [await bodiesOf(subscribers.everything.queueUrl), await bodiesOf(fetchQueueUrl)];
      expect(again.map((bodies) => bodies.toSorted())).toEqual(sent.map((bodies) => bodies.toSorted()));
    }
    const byKey = (items: typeof before) =>
      items.toSorted((a, b) => `${a.pk}${a.sk}`.localeCompare(`${b.pk}${b.sk}`));
    expect(byKey(await table.all())).toEqual(byKey(before));
  });

  test("a message with characters beyond the basic plane arrives as it was", async () => {
    await record(accountEvent({ datasourceId: "\u{1F697}" }));
    await pump();
    expect(await messages(subscribers.everything.queueUrl)).toMatchObject([
      { data: { datasourceId: "\u{1F697}" } },
    ]);
  });

  test("what leaves the table is sent in as few requests as SQS allows", async () => {
    await record(...Array.from({ length: 25 }, () => accountEvent()));
    expect(await invoke(await relayed())).toEqual({ batchItemFailures: [] });
    const states = (await relayed()).slice(25);
    const before = system.calls().get("test sqs:SendMessageBatch") ?? 0;
    await invoke(states);
    expect((system.calls().get("test sqs:SendMessageBatch") ?? 0) - before).toBe(9);
    for (const { queueUrl } of Object.values(subscribers)) expect(await messages(queueUrl)).toHaveLength(25);
    expect(await tasks()).toHaveLength(25);
  });

  test("of a subscriber's messages only those that failed are parked", async () => {
    await record(...Array.from({ length: 12 }, () => accountEvent()));
    const events = await relayed();
    await invoke(events);
    const queueName = subscribers.everything.queueUrl.split("/").at(-1) ?? "";
    let requests = 0;
    const working = system.intercept(async ({ action, resources }, moment) => {
      const isTheirs = action === "sqs:SendMessageBatch" && resources.some((arn) => arn.endsWith(queueName));
      if (!isTheirs || moment !== "before") return undefined;
      requests += 1;
      return requests === 1 ? { status: 500, errorType: "InternalFailure", message: "injected" } : undefined;
    });
    expect(await invoke((await relayed()).slice(events.length))).toEqual({ batchItemFailures: [] });
    working();
    const arrived = await bodiesOf(subscribers.everything.queueUrl);
    const parked = await bodiesOf(subscribers.everything.deadLetterQueueUrl);
    expect([2, 10]).toContain(parked.length);
    expect([...arrived, ...parked].toSorted()).toEqual(
      (await bodiesOf(subscribers.accounts.queueUrl)).toSorted(),
    );
  });

  test("an empty batch is no failure", async () => {
    expect(await invoke([])).toEqual({ batchItemFailures: [] });
  });

  describe("of records that fail, the first is reported, and the others are done:", () => {
    const malformed: readonly [string, (record: DynamoDBRecord) => DynamoDBRecord][] = [
      ["no image", ({ dynamodb, ...rest }) => ({ ...rest, dynamodb: without(dynamodb, "NewImage") })],
      ["an image that is no item", (record) => withImage(record, { sk: { S: 5 } })],
      ["a value of no type", (record) => withImage(record, { sk: { Z: "EVENT#x" } })],
      ["no sort key", (record) => withImage(record, { pk: { S: "USER#x" } })],
      [
        "a sort key that the filter should have left out",
        (record) => withImage(record, { sk: { S: "CONTENT#x" } }),
      ],
      [
        "an event without facts",
        (record) => withImage(record, { sk: { S: "EVENT#x" }, event: { M: {} }, receipts: { N: "1" } }),
      ],
      [
        "an event without receipts",
        (record) => withImage(record, { ...record.dynamodb?.NewImage, receipts: undefined }),
      ],
      [
        "a state of another shape",
        (record) => withImage(record, { sk: { S: "STATE" }, state: { M: { version: { N: "1" } } } }),
      ],
      [
        "a data set of another shape",
        (record) => withImage(record, { sk: { S: "DATA#income" }, data: { S: "x" } }),
      ],
    ];

    test.each(malformed)("%s", async (_, spoil) => {
      const events = Array.from({ length: 5 }, () => accountEvent());
      await record(...events);
      const records = lambdaRecords(await relayed()).map((record, index) =>
        index === 1 || index === 3 ? spoil(record) : record,
      );
      expect(await handler({ Records: records })).toEqual({
        batchItemFailures: [{ itemIdentifier: records[1]?.dynamodb?.SequenceNumber }],
      });
      expect((await itemsBy("STATE")).map(({ pk }) => pk).toSorted()).toEqual(
        [0, 2, 4].map((index) => `ACCOUNT#${events[index]?.accountId}`).toSorted(),
      );
      // The first alone is told: the others come again.
      const [{ id } = { id: "" }] = events;
      expect(entries).toMatchObject([
        { code: "RELAYED", count: 1, messages: 0, tasks: 0, correlationIds: [id] },
        { code: "RECORD_FAILED", reason: expect.any(String) },
      ]);
    });

    test("a record that does not even say its number fails the batch: it is never forgotten", async () => {
      await expect(invoke([{ eventName: "INSERT" }])).rejects.toThrow("NewImage: missing");
    });
  });

  test("while the table can't be written to, the first record is reported; once it can, nothing is missing", async () => {
    await record(accountEvent(), accountEvent());
    const records = await relayed();
    const working = system.fail("dynamodb:PutItem");
    expect(await invoke(records)).toEqual({
      batchItemFailures: [{ itemIdentifier: records[0]?.dynamodb?.SequenceNumber }],
    });
    working();
    await pump();
    expect(await messages(subscribers.everything.queueUrl)).toHaveLength(2);
  });

  test("after a write that failed, later events of the same account wait for it, and do not overtake it", async () => {
    const accountId = randomUUID();
    await record(accountEvent({ accountId }), accountEvent({ accountId, type: "account.disconnected" }));
    const records = await relayed();
    let puts = 0;
    const working = system.intercept(async ({ action }, moment) => {
      if (action !== "dynamodb:PutItem" || moment !== "before") return undefined;
      puts += 1;
      return puts === 1 ? { status: 500, errorType: "InternalServerError", message: "injected" } : undefined;
    });
    expect(await invoke(records)).toEqual({
      batchItemFailures: [{ itemIdentifier: records[0]?.dynamodb?.SequenceNumber }],
    });
    working();
    await pump();
    expect(await table.item(`ACCOUNT#${accountId}`, "STATE")).toMatchObject({
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

    const first = () => ({ batchItemFailures: [{ itemIdentifier: states[0]?.dynamodb?.SequenceNumber }] });
    const lose = (queueUrl: string) => system.sqs.send(new DeleteQueueCommand({ QueueUrl: queueUrl }));

    test("a subscriber whose queue is gone is parked in its dead-letter queue, and holds up nobody", async () => {
      await lose(subscribers.everything.queueUrl);
      expect(await invoke(states)).toEqual({ batchItemFailures: [] });
      const parked = await system.drain(subscribers.everything.deadLetterQueueUrl);
      expect(parked).toHaveLength(3);
      for (const { MessageAttributes } of parked) {
        expect(MessageAttributes?.reason?.StringValue).toMatch(/QueueDoesNotExist/);
      }
      const others = await bodiesOf(subscribers.accounts.queueUrl);
      expect(parked.map(({ Body }) => Body).toSorted()).toEqual(others.toSorted());
      expect(await tasks()).toHaveLength(3);
      expect(entries.slice(-2)).toMatchObject([
        { code: "SUBSCRIBER_PARKED", subscriber: "everything", count: 3, correlationIds },
        { code: "RELAYED", count: 3, messages: 3, tasks: 3, correlationIds },
      ]);
    });

    test("a subscriber whose two queues are gone has the records reported, and the others are served", async () => {
      await lose(subscribers.everything.queueUrl);
      await lose(subscribers.everything.deadLetterQueueUrl);
      expect(await invoke(states)).toEqual(first());
      expect(await messages(subscribers.accounts.queueUrl)).toHaveLength(3);
      expect(await tasks()).toHaveLength(3);
    });

    test("a fetch queue that is gone has the records reported, and subscribers are served", async () => {
      await lose(fetchQueueUrl);
      expect(await invoke(states)).toEqual(first());
      for (const { queueUrl } of Object.values(subscribers)) expect(await messages(queueUrl)).toHaveLength(3);
    });

    test("a link that can't be written has its record reported, and neither task nor message is sent before it", async () => {
      const event = accountEvent({ userId: randomUUID() });
      await record(event);
      const all = await relayed();
      await invoke(all.slice(-1));
      const [state] = (await relayed()).slice(all.length);
      const working = system.fail("dynamodb:PutItem");
      expect(await invoke([state])).toEqual({
        batchItemFailures: [{ itemIdentifier: state?.dynamodb?.SequenceNumber }],
      });
      working();
      expect(await messages(subscribers.everything.queueUrl)).toEqual([]);
      expect(await invoke([state])).toEqual({ batchItemFailures: [] });
      expect(await table.item(`USER#${event.userId}`, `ACCOUNT#${event.accountId}`)).toBeDefined();
      expect(await messages(subscribers.everything.queueUrl)).toMatchObject([{ id: event.id }]);
    });
  });

  describe("somebody who is erased", () => {
    const accountId = randomUUID();
    const userId = randomUUID();
    const account: Subject = { kind: "account", id: accountId };
    const user: Subject = { kind: "user", id: userId };
    const eraseTasks = async () => (await bodiesOf(eraseQueueUrl)).map(readEraseTask);
    const nothingLeft = async () => {
      expect(await tasks()).toEqual([]);
      expect(await messages(subscribers.everything.queueUrl)).toEqual([]);
    };

    test("has no consequences any more: what comes of the user or an account is erased with all that it names", async () => {
      await bury(user);
      const late = accountEvent({ accountId, userId });
      await record(late, accountEvent({ accountId, userId }));
      await pump();
      await nothingLeft();
      // One task for both, under the id of the first.
      const task = { ...eraseTask(user, "arrived late", [account]), correlationId: expect.any(String) };
      expect(await eraseTasks()).toEqual<EraseTask[]>([task]);
      expect(await itemsBy("STATE")).toEqual([]);
      expect(entries).toContainEqual({ code: "ARRIVED_LATE", correlationId: late.id });
    });

    test("may be an account alone, in the records of a user who stays", async () => {
      await bury(account);
      const late = accountEvent({ accountId, userId });
      await record(late, accountEvent({ kind: "users", type: "user.created", userId }));
      await pump();
      expect(await eraseTasks()).toEqual([
        { ...eraseTask(account, "arrived late", [user]), correlationId: late.id },
      ]);
      expect((await messages(subscribers.everything.queueUrl)).map(({ subject }) => subject)).toEqual([
        `user/${userId}`,
      ]);
    });

    test("is known by the state of an account, too, which a batch in flight wrote meanwhile", async () => {
      const late = accountEvent({ accountId, userId });
      await record(late);
      const [event] = await relayed();
      await invoke([event]);
      await bury(user);
      await pump(1);
      await nothingLeft();
      expect(await eraseTasks()).toEqual([
        { ...eraseTask(user, "arrived late", [account]), correlationId: late.id },
      ]);
    });

    test("is known by data that an event of the user made wanted", async () => {
      await record(
        accountEvent({ accountId, userId, kind: "endpoints", type: "endpoint.updated", endpoint: "income" }),
      );
      await invoke([(await relayed())[0]]);
      await bury(user);
      await pump(1);
      await nothingLeft();
      expect(await eraseTasks()).toMatchObject([{ subject: user, namedWith: [account] }]);
    });

    test("is looked for with one read for the whole batch, and what it revises is read with one more", async () => {
      const events = Array.from({ length: 30 }, () => accountEvent({ userId: randomUUID() }));
      const data = events.map((event) => ({ ...event, id: randomUUID(), type: "endpoint.updated" as const }));
      await record(...events, ...data.map((event) => ({ ...event, endpoint: "income" })));
      const reads = () =>
        ["BatchGetItem", "GetItem", "Query"].map((name) => system.calls().get(`test dynamodb:${name}`) ?? 0);
      const [batches = 0, ...others] = reads();
      await invoke(await relayed());
      expect(reads()).toEqual([batches + 2, ...others]);
      expect(await itemsBy("STATE")).toHaveLength(30);
    });

    test("is never guessed: while that read fails, nothing is relayed, and all comes again", async () => {
      await record(accountEvent({ accountId, userId }));
      const [first] = await relayed();
      const end = system.fail("dynamodb:BatchGetItem");
      try {
        expect(await invoke([first])).toEqual({
          batchItemFailures: [{ itemIdentifier: first?.dynamodb?.SequenceNumber }],
        });
      } finally {
        end();
      }
      await nothingLeft();
      expect(await itemsBy("STATE")).toEqual([]);
    });
  });

  describe("a user who is deleted at the provider", () => {
    const deletion = (facts: Partial<IncomeEvent> = {}) =>
      accountEvent({ kind: "users", type: "user.deleted", userId: randomUUID(), eventId: "e-1", ...facts });

    test("is erased where the setting says so, and subscribers get the event first", async () => {
      erasesOnDeletion = true;
      const event = deletion();
      await record(event);
      await pump();
      const id = event.userId ?? "";
      expect((await bodiesOf(eraseQueueUrl)).map(readEraseTask)).toEqual([
        { ...eraseTask({ kind: "user", id }, "deleted"), correlationId: event.id },
      ]);
      expect(await messages(subscribers.everything.queueUrl)).toMatchObject([{ type: "user.deleted" }]);
    });

    test("is kept where it does not", async () => {
      await record(deletion());
      await pump();
      expect(await bodiesOf(eraseQueueUrl)).toEqual([]);
    });

    test("is erased after a weak event only once the provider has confirmed it", async () => {
      erasesOnDeletion = true;
      const { eventId: _, ...weak } = deletion();
      const subject = { kind: "user", id: weak.userId ?? "" } as const;
      await record(weak);
      const seen = await pump();
      expect(await bodiesOf(eraseQueueUrl)).toEqual([]);
      const answered = revisions(system.dynamodb, table.name);
      await answered.state(subject, (state) => settle(state, 1, { found: false }, { at: new Date() }));
      await pump(seen);
      expect((await bodiesOf(eraseQueueUrl)).map(readEraseTask)).toEqual([eraseTask(subject, "deleted")]);
    });

    test("leads to no erasure of another subject: an account's deletion is none of its user", async () => {
      erasesOnDeletion = true;
      await record(accountEvent({ type: "account.deleted", eventId: "e-2", userId: randomUUID() }));
      await pump();
      expect(await bodiesOf(eraseQueueUrl)).toEqual([]);
    });
  });
});

describe("the subscribers' queues", () => {
  test.each<[string, unknown, string]>([
    ["a subscriber without queues", { other: {} }, "SUBSCRIBER_QUEUES: no orders"],
    ["no object", [], "SUBSCRIBER_QUEUES: expected an object"],
    [
      "a queue without a dead-letter queue",
      { orders: { queueUrl: "q" } },
      "deadLetterQueueUrl: expected a text",
    ],
  ])("that name %s are refused at start", (_, queues, message) => {
    expect(() => joinQueues([{ name: "orders" }], queues)).toThrow(message);
  });
});

function without<T extends object>(fields: T | undefined, name: keyof T): T {
  const { [name]: _, ...rest } = JSON.parse(JSON.stringify(fields ?? {}));
  return rest;
}

function withImage(record: DynamoDBRecord, image: object): DynamoDBRecord {
  return JSON.parse(JSON.stringify({ ...record, dynamodb: { ...record.dynamodb, NewImage: image } }));
}
