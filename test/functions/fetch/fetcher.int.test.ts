import { describe, expect, test } from "vitest";
import { batchingReader, batchingWriter } from "../../../adapters/dynamodb/batching.ts";
import { readinessRecords } from "../../../adapters/dynamodb/versioned-records.ts";
import { stateTask, writeTask } from "../../../domain/fetch/task.ts";
import type { Failures } from "../../../domain/readiness/readiness.ts";
import { describeOnTables } from "../../support/engines.ts";
import { fetcherFixture, income, noon } from "../support/fetcher-fixture.ts";
import { provider, started } from "../support/fetcher-settings.ts";

const day = 86_400_000;

await describeOnTables("the fetcher", (tables) => {
  const fixture = fetcherFixture(tables);
  const { fetcherOf, seenNow, perform, codes, postponed, calls, read, put } = fixture;
  const deadLetters = () => fixture.tasks.deadLetters();
  const requests = (action: string) => fixture.system.calls().get(`test sqs:${action}`) ?? 0;

  describe("a call that may be made again", () => {
    test("leaves its task in the queue, hidden, and never sends it again", async () => {
      fixture.remote.answer = () => 503;
      const task = read();
      await fixture.tasks.send([task]);
      const sent = requests("SendMessageBatch");
      expect(await fixture.tasks.deliver(fetcherOf(), seenNow())).toMatchObject({ left: [writeTask(task)] });
      expect(requests("SendMessageBatch")).toBe(sent);
      expect(postponed()).toEqual([{ delayInSeconds: 300, reason: "the provider answered 503" }]);
      expect(await fixture.tasks.depth()).toEqual({ visible: 0, hidden: 1, delayed: 0 });
      expect(await deadLetters()).toEqual([]);
    });

    test.each([
      ["500", 500 + 100],
      ["Sat, 21 Nov 2026 12:08:50 GMT", 500 + 100],
      ["100000", 893],
    ])(
      "waits longer than Retry-After (%s), or meets a breaker that is open until then",
      async (value, seconds) => {
        fixture.remote.answer = () => ({ status: 429, headers: { "retry-after": value }, text: "" });
        await perform(read());
        expect(postponed()).toMatchObject([{ delayInSeconds: seconds }]);
        fixture.clock = new Date(noon.getTime() + 894_000);
        await fixture.performAgain();
        expect(calls()).toHaveLength(value === "100000" ? 1 : 2);
      },
    );

    test("hides all of a batch with one request", async () => {
      fixture.remote.answer = () => 503;
      const before = requests("ChangeMessageVisibilityBatch");
      const left = await perform(Array.from({ length: 10 }, (_, index) => read({ endpoint: `e${index}` })));
      expect(left).toHaveLength(10);
      expect(requests("ChangeMessageVisibilityBatch") - before).toBe(1);
    });

    test("is given up at receive 990, before SQS would, as it came and with the reason", async () => {
      fixture.remote.answer = () => 503;
      const task = read();
      const seen = { receives: 990, sentAt: new Date(noon.getTime() - day) };
      expect(await perform(task, provider, seen)).toEqual([]);
      const reason = "the provider answered 503; given up after 990 attempts in 24 hours";
      expect(await deadLetters()).toEqual([{ body: writeTask(task), reason }]);
      expect(codes()).toEqual(["MESSAGE_REJECTED"]);
      expect(await fixture.document()).toBeUndefined();
    });

    test("says among the dead letters how often it was redriven", async () => {
      fixture.remote.answer = () => 503;
      await fixture.tasks.send([read()], { returns: "1 run" });
      await fixture.tasks.deliver(fetcherOf(), seenNow({ receives: 990 }));
      expect(await deadLetters()).toMatchObject([{ returns: "1 run" }]);
    });

    test("leaves each of a document's tasks among the dead letters, without delaying the others", async () => {
      fixture.remote.answer = () => 400;
      expect(await perform([read(), read(), read()])).toEqual([]);
      expect(await deadLetters()).toHaveLength(3);
    });

    test.each([
      ["its dead-letter queue can't be written to", 400, "sqs:SendMessageBatch"],
      ["its visibility cannot be changed", 503, "sqs:ChangeMessageVisibilityBatch"],
    ])("stays in its queue while %s", async (_, status, action) => {
      fixture.remote.answer = () => status;
      const task = read();
      await fixture.tasks.send([task]);
      const working = fixture.system.fail(action);
      expect(await fixture.tasks.deliver(fetcherOf(), seenNow())).toMatchObject({ left: [writeTask(task)] });
      working();
      expect(codes()).toEqual(["MESSAGE_FAILED"]);
      expect(await deadLetters()).toEqual([]);
    });
  });

  const readiness = () => {
    const { dynamodb } = fixture.system;
    const { name } = fixture.table;
    return readinessRecords(batchingReader(dynamodb, name), batchingWriter(dynamodb, name));
  };
  /** A fetcher of a stage whose accounts wait for `income`. */
  const awaiting = () =>
    fetcherOf(provider, { readiness: { endpoints: ["income"], markFailure: readiness().markFailure } });

  test.each<[string, { endpoint: string; status: number; receives?: number; since?: number }, Failures]>([
    ["is retried", { endpoint: "income", status: 503, receives: 2 }, {}],
    ["fails repeatedly", { endpoint: "income", status: 503, receives: 3 }, { income: "failing" }],
    ["fails permanently", { endpoint: "income", status: 400 }, { income: "deadLetter" }],
    ["failed in an earlier connection", { endpoint: "income", status: 400, since: 1 }, {}],
    ["failed for an endpoint that is not awaited", { endpoint: "profile", status: 400 }, {}],
  ])(
    "a task that %s is the reason of an incomplete account",
    async (_, { endpoint, status, receives = 1, since = 0 }, expected) => {
      const begun = {
        ...{ subject: fixture.subject, version: 1, stateVersion: 1, isConnected: true, isConfirmed: true },
        ...{ since: noon.getTime() + since, deadline: noon.getTime() + day },
        ...{ endpoints: ["income"], readings: {} },
      };
      await readiness().update(fixture.subject, async () => begun);
      fixture.remote.answer = () => status;
      await fixture.tasks.send([read({ endpoint })]);
      await fixture.tasks.deliver(awaiting(), seenNow({ receives }));
      expect(await readiness().failures(fixture.subject, begun)).toEqual({ income: expected.income });
    },
  );

  test("a failed task creates no readiness for an account without one, such as an erased account", async () => {
    fixture.remote.answer = () => 400;
    await fixture.tasks.send([read()]);
    await fixture.tasks.deliver(awaiting(), seenNow());
    expect((await fixture.table.all()).filter(({ sk }) => sk === "READINESS")).toEqual([]);
    expect(await deadLetters()).toHaveLength(1);
  });

  describe("a task that the provider refuses with 403", () => {
    const hoursOld = (hours: number) => seenNow({ sentAt: new Date(noon.getTime() - hours * 3_600_000) });

    test("waits like in an outage, and has the token tried once", async () => {
      fixture.remote.answer = () => 403;
      expect(await perform([read(), read({ endpoint: "profile" })])).toHaveLength(2);
      expect(postponed()).toMatchObject([{ reason: "the provider answered 403" }, {}]);
      expect(fixture.refreshesAsked).toBe(1);
    });

    test("is not rejected while all are refused, which stops all calls", async () => {
      fixture.remote.answer = () => 403;
      const endpoints = Array.from({ length: 9 }, (_, index) => read({ endpoint: `e${index}` }));
      await fixture.tasks.send(endpoints);
      const environment = fetcherOf({ ...provider, breaker: { ...provider.breaker, failures: 5 } });
      expect((await fixture.tasks.deliver(environment, hoursOld(5))).left).toHaveLength(9);
      const made = calls().length;
      await fixture.tasks.send([read({ endpoint: "e10" })]);
      await fixture.tasks.deliver(environment, hoursOld(5));
      expect(calls()).toHaveLength(made);
      expect(postponed().at(-1)).toMatchObject({ reason: "the provider is down" });
      expect(await deadLetters()).toEqual([]);
    });

    test.each([
      [0.9, []],
      [1.1, [{ reason: "the provider answered 403 for over an hour, and answered others" }]],
    ])("alone is a dead letter after an hour, and no earlier: %f hours", async (hours, letters) => {
      fixture.remote.answer = ({ path }) => (path.endsWith("/income") ? 403 : { json: {} });
      const environment = fetcherOf();
      await fixture.tasks.send([read({ endpoint: "profile" })]);
      await fixture.tasks.deliver(environment, seenNow());
      await fixture.tasks.send([read({ endpoint: "income" })]);
      await fixture.tasks.deliver(environment, hoursOld(hours));
      expect(await deadLetters()).toMatchObject(letters);
    });
  });

  test.each([
    [0.9, []],
    [1.1, [{ reason: "the provider answered 401 for over an hour, and answered others" }]],
  ])(
    "a task for which alone the token is refused is a dead letter after an hour: %f hours",
    async (hours, letters) => {
      fixture.remote.answer = ({ path }) => (path.endsWith("/income") ? 401 : { json: {} });
      const environment = fetcherOf();
      const sentAt = new Date(noon.getTime() - hours * 3_600_000);
      for (const endpoint of ["profile", "income", "activity", "income"]) {
        fixture.clock = new Date(fixture.clock.getTime() + 1_000);
        await fixture.tasks.send([read({ endpoint })]);
        expect(await deadLetters()).toEqual([]);
        await fixture.tasks.deliver(environment, seenNow({ sentAt }));
      }
      expect(await deadLetters()).toMatchObject(letters);
    },
  );

  test("a task that the provider answers with 400 is given up at once", async () => {
    await put();
    fixture.remote.answer = () => 400;
    const stateTasks = (["startFetch", "fetchState"] as const).map((type) =>
      stateTask(type, fixture.subject, 1, {}),
    );
    const tasks = [read(), ...stateTasks];
    expect(await perform(tasks, started)).toEqual([]);
    const reason = "the provider answered 400";
    expect(await deadLetters()).toMatchObject(tasks.map(() => ({ reason })));
    expect(calls()).toHaveLength(3);
  });

  test.each([
    ["no JSON", "hello", "the task is not JSON"],
    ["no version", '{"schemaVersion":0}', "schemaVersion: expected a whole number from 1 on"],
    [
      "no task",
      '{"schemaVersion":2,"cause":"c","subject":{"kind":"user","id":"u"},"type":"x"}',
      "type: expected fetchDocument, startFetch, fetchState or verifyStart",
    ],
    ["nobody", '{"schemaVersion":2,"cause":"c","type":"fetchState"}', "subject: expected an object"],
  ])("a message that is %s goes to the dead-letter queue with its reason", async (_, message, reason) => {
    expect(await perform(message)).toEqual([]);
    expect(await deadLetters()).toEqual([{ body: message, reason }]);
  });

  test("a task of a later release stays in the queue unchanged, while others are done", async () => {
    fixture.remote.answer = () => ({ json: {} });
    const later = JSON.stringify({ ...read(), schemaVersion: 4 });
    await fixture.tasks.send([later, read({ endpoint: "profile" })]);
    expect(await fixture.tasks.deliver(fetcherOf(), seenNow())).toMatchObject({ left: [later] });
    expect(codes().toSorted()).toEqual(["TASK_DONE", "TASK_POSTPONED"]);
    expect(postponed()).toEqual([{ delayInSeconds: 60, reason: expect.stringContaining("later release") }]);
    expect(await deadLetters()).toEqual([]);
  });

  test("while the provider is down a task costs no read, no write and no call", async () => {
    const nervous = { ...provider, breaker: { failures: 1, baseSeconds: 100, maxSeconds: 300 } };
    fixture.remote.answer = () => 503;
    const fetch = fetcherOf(nervous);
    await fixture.tasks.send([read()]);
    await fixture.tasks.deliver(fetch, seenNow());
    const counted = () => [...fixture.system.calls()].filter(([name]) => name.startsWith("test dynamodb:"));
    const before = counted();
    await fixture.tasks.send([read({ endpoint: "profile" })]);
    await fixture.tasks.deliver(fetch, seenNow());
    expect(counted()).toEqual(before);
    expect(calls()).toHaveLength(1);
    expect(postponed().at(-1)).toMatchObject({ reason: "the provider is down" });
    expect(await deadLetters()).toEqual([]);
  });

  test("a task alone waits for one read, its call and one write, and reserves calls once", async () => {
    const fetch = fetcherOf();
    fixture.remote.answer = () => ({ json: {} });
    const requests = async (endpoint: string) => {
      const before = new Map(fixture.system.calls());
      await fixture.tasks.send([read({ endpoint })]);
      await fixture.tasks.deliver(fetch, seenNow());
      return [...fixture.system.calls()].flatMap(([name, count]) =>
        name.startsWith("test dynamodb:") && count > (before.get(name) ?? 0)
          ? [name.replace("test dynamodb:", "")]
          : [],
      );
    };
    await requests("income");
    fixture.clock = new Date(fixture.clock.getTime() + 10_000);
    const usual = ["BatchExecuteStatement", "BatchGetItem"];
    expect((await requests("profile")).toSorted()).toEqual(usual);
    expect((await requests("documents")).toSorted()).toEqual([...usual, "UpdateItem"]);
  });

  test("more tasks than the rate allows wait for the next window", async () => {
    // Five calls per minute are three windows of one call.
    const slow = { ...provider, requestsPerMinute: 5 };
    fixture.remote.answer = () => ({ json: {} });
    const left = await perform(
      ["a", "b", "c", "d"].map((endpoint) => read({ endpoint })),
      slow,
    );
    expect(calls()).toHaveLength(1);
    expect(left).toHaveLength(3);
    expect(postponed().map(({ reason }) => reason)).toEqual(
      Array.from({ length: 3 }, () => "the provider's rate is used up"),
    );
    expect(await deadLetters()).toEqual([]);
    expect(await fixture.document(income)).toBeUndefined();
  });
});
