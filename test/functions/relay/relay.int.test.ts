import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { batchingWriter } from "../../../adapters/dynamodb/batching.ts";
import { canaryTable } from "../../../adapters/dynamodb/event-table.ts";
import type { Message } from "../../../domain/message/message-schemas.ts";
import { joinQueues } from "../../../functions/runtime/subscriber-queues.ts";
import { describeOnTables } from "../../support/engines.ts";
import { accountEvent, names, relayFixture, source } from "../support/relay-fixture.ts";
import { allDone, failedFrom, lambdaRecords } from "../support/relayed-records.ts";

await describeOnTables("the relay", (tables) => {
  const fixture = relayFixture(tables);
  const { record, relayed, invoke, pump, bodiesOf, tasks, messages } = fixture;

  describe("an account that connects", () => {
    const accountId = randomUUID();
    const userId = randomUUID();
    const event = accountEvent({ accountId, userId, datasourceId: "uber" });

    test("becomes a state, a link to its user, a task to start its fetch, and a message to each subscriber", async () => {
      await record(event);
      await pump();
      expect(await fixture.table.item(`ACCOUNT#${accountId}`, "STATE")).toMatchObject({
        state: { version: 1, connected: true, deleted: false, unconfirmed: false, userId },
      });
      expect(await fixture.table.item(`USER#${userId}`, `ACCOUNT#${accountId}`)).toBeDefined();
      expect(await tasks()).toEqual([
        {
          schemaVersion: 2,
          cause: "1",
          correlationId: event.id,
          userId,
          type: "startFetch",
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
      for (const name of names) expect(await messages(fixture.subscribers[name].queueUrl)).toEqual([message]);
    });
  });

  test("an endpoint's event becomes a task to read its document, and a message, with no write of the table", async () => {
    const event = accountEvent({ kind: "endpoints", type: "endpoint.updated", endpoint: "income" });
    await record(event);
    const before = await fixture.table.all();
    await pump();
    expect(await fixture.table.all()).toEqual(before);
    expect(await tasks()).toEqual([
      {
        schemaVersion: 2,
        cause: `${event.id}.1`,
        correlationId: event.id,
        type: "fetchDocument",
        subject: { kind: "account", id: event.accountId },
        endpoint: "income",
        since: Date.parse(event.receivedAt),
      },
    ]);
    expect(await messages(fixture.subscribers.everything.queueUrl)).toMatchObject([
      { id: event.id, type: "endpoint.updated", subject: `account/${event.accountId}/income` },
    ]);
    expect(await messages(fixture.subscribers.accounts.queueUrl)).toEqual([]);
  });

  test("events of one account are applied in the order of the stream, in one batch", async () => {
    const accountId = randomUUID();
    const at = (second: number) => `2026-11-21T10:00:0${second}.000Z`;
    await record(
      accountEvent({ accountId, type: "account.created", time: at(1) }),
      accountEvent({ accountId, type: "account.connected", time: at(2) }),
      accountEvent({ accountId, type: "account.disconnected", time: at(4) }),
      accountEvent({ accountId, type: "account.connected", time: at(3) }),
    );
    await pump();
    expect(await fixture.table.item(`ACCOUNT#${accountId}`, "STATE")).toMatchObject({
      state: { version: 4, connected: false, unconfirmed: false, asOf: at(4) },
    });
    const sent = await messages(fixture.subscribers.accounts.queueUrl);
    expect(sent.map(({ sequence, type, data }) => [Number(sequence), type, data]).toSorted()).toMatchObject([
      [1, "account.created", { outcome: "applied" }],
      [2, "account.connected", { outcome: "applied" }],
      [3, "account.disconnected", { outcome: "applied" }],
      [4, "account.connected", { outcome: "stale" }],
    ]);
  });

  test("a repeated batch sends the same ids and sequences, and changes no item", async () => {
    const accountId = randomUUID();
    await record(
      accountEvent({ accountId, userId: randomUUID() }),
      accountEvent({ accountId, type: "account.updated" }),
      accountEvent({ accountId, kind: "endpoints", type: "endpoint.updated", endpoint: "income" }),
    );
    await pump();
    const before = await fixture.table.all();
    const sent = [
      await bodiesOf(fixture.subscribers.everything.queueUrl),
      await bodiesOf(fixture.fetchQueueUrl),
    ];
    expect(sent.map(({ length }) => length)).toEqual([3, 2]);
    for (let time = 0; time < 2; time += 1) {
      expect(await invoke(await relayed())).toEqual(allDone);
      const again = [
        await bodiesOf(fixture.subscribers.everything.queueUrl),
        await bodiesOf(fixture.fetchQueueUrl),
      ];
      // The fetch queue deduplicates the tasks.
      expect(again.map((bodies) => bodies.toSorted())).toEqual([sent[0]?.toSorted(), []]);
    }
    const byKey = (items: typeof before) =>
      items.toSorted((a, b) => `${a.pk}${a.sk}`.localeCompare(`${b.pk}${b.sk}`));
    expect(byKey(await fixture.table.all())).toEqual(byKey(before));
  });

  test("the time from a webhook to its message is measured once, and only for events of webhooks", async () => {
    const receivedAt = "2026-11-21T10:00:00.000Z";
    const data = { kind: "endpoints", type: "endpoint.updated", endpoint: "income" } as const;
    fixture.now = () => new Date(Date.parse(receivedAt) + 700);
    await record(
      accountEvent({ receivedAt }),
      accountEvent({ receivedAt, reconciled: true }),
      accountEvent({ receivedAt: "2026-11-21T10:00:00.200Z", ...data }),
      // The clocks of two functions may differ.
      accountEvent({ receivedAt: "2026-11-21T10:00:01.000Z" }),
    );
    const measured = () =>
      fixture.entries.flatMap(({ latencies }) => (latencies === undefined ? [] : [latencies]));
    const events = await relayed();
    await invoke(events);
    // The data event is announced itself, the others by the states that result.
    expect(measured()).toEqual([{ toSubscriber: [500] }]);
    const states = (await relayed()).slice(events.length);
    await invoke(states);
    expect(measured()[1]?.toSubscriber?.toSorted()).toEqual([0, 700]);
    await fixture.handler({ Records: lambdaRecords(states), parks: false });
    expect(measured()).toHaveLength(2);
  });

  test("a canary reaches only its own queue, and blocks nothing if that queue refuses it", async () => {
    const write = batchingWriter(fixture.system.dynamodb, fixture.table.name);
    const recordCanary = canaryTable(write, () => new Date());
    const [id, lost] = [randomUUID(), randomUUID()];
    // A redelivered message stores nothing more.
    for (const each of [id, id]) await recordCanary(each);
    const relayedSoFar = await pump();
    expect(relayedSoFar).toBe(1);
    expect(await bodiesOf(fixture.canaryQueueUrl)).toEqual([id]);
    for (const { queueUrl } of Object.values(fixture.subscribers))
      expect(await bodiesOf(queueUrl)).toEqual([]);
    expect(JSON.stringify(fixture.entries)).not.toContain(id);
    await recordCanary(lost);
    const event = accountEvent();
    await record(event);
    const name = fixture.canaryQueueUrl.split("/").at(-1) ?? "";
    const working = fixture.system.fail("sqs:SendMessageBatch", name);
    expect(await invoke((await relayed()).slice(relayedSoFar))).toEqual(allDone);
    working();
    expect(await bodiesOf(fixture.canaryQueueUrl)).toEqual([]);
    expect(await fixture.table.item(`ACCOUNT#${event.accountId}`, "STATE")).toBeDefined();
  });

  test("the tasks of one document become one, with the latest of their times", async () => {
    const facts = {
      accountId: randomUUID(),
      kind: "endpoints",
      type: "endpoint.updated",
      endpoint: "income",
    } as const;
    const received = (second: number) => `2026-11-21T10:00:0${second}.000Z`;
    await record(...[1, 3, 2].map((second) => accountEvent({ ...facts, receivedAt: received(second) })));
    await pump();
    expect(await tasks()).toMatchObject([{ type: "fetchDocument", since: Date.parse(received(3)) }]);
    expect(await messages(fixture.subscribers.everything.queueUrl)).toHaveLength(3);
  });

  test("the tasks of one document that can't be sent fail each record that led to them", async () => {
    const accountId = randomUUID();
    const facts = { accountId, kind: "endpoints", type: "endpoint.updated", endpoint: "income" } as const;
    await record(accountEvent(facts), accountEvent(facts));
    const records = await relayed();
    const working = fixture.system.fail("sqs:SendMessageBatch", ".fifo");
    for (const from of [0, 1]) {
      expect(await invoke(records.slice(from))).toEqual(failedFrom(records[from]));
    }
    working();
    expect(await invoke(records)).toEqual(allDone);
    expect(await tasks()).toHaveLength(1);
  });

  test("of a subscriber's messages only those that failed are parked, and sent again", async () => {
    await record(...Array.from({ length: 12 }, () => accountEvent()));
    const events = await relayed();
    await invoke(events);
    const queueName = fixture.subscribers.everything.queueUrl.split("/").at(-1) ?? "";
    let requests = 0;
    const working = fixture.system.intercept(async ({ action, resources }, phase) => {
      const isTheirs = action === "sqs:SendMessageBatch" && resources.some((arn) => arn.endsWith(queueName));
      if (!isTheirs || phase !== "before") return undefined;
      requests += 1;
      return requests === 1 ? { status: 500, errorType: "InternalFailure", message: "injected" } : undefined;
    });
    expect(await invoke((await relayed()).slice(events.length))).toEqual(allDone);
    working();
    const arrived = await bodiesOf(fixture.subscribers.everything.queueUrl);
    expect([2, 10]).toContain(arrived.length);
    await fixture.resend();
    const resent = await bodiesOf(fixture.subscribers.everything.queueUrl);
    expect([...arrived, ...resent].toSorted()).toEqual(
      (await bodiesOf(fixture.subscribers.accounts.queueUrl)).toSorted(),
    );
  });
});

describe("the subscribers' queues", () => {
  const url = "https://sqs.eu-central-1.amazonaws.com/123456789012/fetch.fifo";

  test("are derived from one queue's URL, in the order of the settings", () => {
    const [orders, everything] = joinQueues(
      [{ name: "orders", types: ["account.*"] }, { name: "everything" }],
      url,
      ["q1/d1", "q2/d2"],
    );
    const beside = "https://sqs.eu-central-1.amazonaws.com/123456789012";
    expect(orders).toEqual({
      name: "orders",
      types: ["account.*"],
      queueUrl: `${beside}/q1`,
      deadLetterQueueUrl: `${beside}/d1`,
    });
    expect(everything).toMatchObject({ queueUrl: `${beside}/q2`, deadLetterQueueUrl: `${beside}/d2` });
  });

  test.each<[string, readonly string[]]>([
    ["no subscriber's", []],
    ["no dead-letter queue", ["q1"]],
  ])("that name %s are refused at start", (_, given) => {
    expect(() => joinQueues([{ name: "orders" }], url, given)).toThrow(
      "the environment names no queue and dead-letter queue of orders",
    );
  });
});
