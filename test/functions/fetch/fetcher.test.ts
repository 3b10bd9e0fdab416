import { beforeEach, describe, expect, test } from "vitest";
import { sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import {
  fetchStateTask,
  readTask,
  readTaskText,
  startTask,
  type Task,
  writeTask,
} from "../../../domain/fetch/tasks.ts";
import { describeOnTables } from "../../support/engines.ts";
import { fetcherFixture, noon, provider, started } from "../support/fetcher-fixture.ts";
import { deliver } from "../support/lambda.ts";

await describeOnTables("the fetcher", (tables) => {
  const fixture = fetcherFixture(tables);
  const {
    fetcherOf,
    perform,
    codes,
    hiddenUntilNow,
    requests,
    calls,
    deadLetters,
    want: request,
    put,
    content,
    postponed,
  } = fixture;

  describe("a call that may be made again", () => {
    beforeEach(() => request("income"));
    const hoursAgo = (hours: number) => new Date(noon.getTime() - hours * 3_600_000);
    const read = (attempts = 0, since?: Date): Task => ({
      ...readTask(fixture.subject, { endpoint: "income" }, 1),
      attempts,
      ...(since && { since: since.toISOString() }),
    });

    test("after a long wait is sent again, its attempts counted, with the time since when it fails", async () => {
      fixture.remote.answer = () => 503;
      expect(await postponed(read())).toEqual([{ task: read(1, noon), delay: 100 }]);
      expect(await fixture.system.receive(fixture.queueUrl)).toEqual([]);
      expect(fixture.entries).toMatchObject([{ reason: "the provider answered 503", attempts: 1 }]);
      expect(await deadLetters()).toEqual([]);
    });

    test("waits longer each time, at random, and fails since the first time", async () => {
      fixture.remote.answer = () => 503;
      const since = hoursAgo(1);
      expect(await postponed(read(1, since))).toEqual([{ task: read(2, since), delay: 200 }]);
    });

    test.each([
      ["120", 120 + 100],
      ["Sat, 21 Nov 2026 12:02:30 GMT", 120 + 100],
      ["100000", 900],
    ])("waits longer than Retry-After says (%s), and no longer than SQS allows", async (value, delay) => {
      fixture.remote.answer = () => ({ status: 429, headers: { "retry-after": value }, text: "" });
      expect(await postponed(read())).toMatchObject([{ delay }]);
    });

    test("after a short wait stays in its queue, hidden for so long", async () => {
      fixture.retrying = { ...fixture.retrying, retry: { baseSeconds: 10, maxSeconds: 900 } };
      fixture.remote.answer = () => 503;
      expect(await perform(read())).toEqual([writeTask(read())]);
      expect(fixture.sent).toEqual([]);
      expect(fixture.entries).toMatchObject([{ code: "TASK_POSTPONED", delayInSeconds: 5 }]);
      expect(await hiddenUntilNow()).toBe(1);
    });

    test("in a batch of ten takes one request for all that wait long, and one for all that wait short", async () => {
      const endpoints = Array.from({ length: 10 }, (_, index) => `e${index}`);
      await Promise.all(endpoints.map((endpoint) => request(endpoint)));
      await Promise.all(
        endpoints.map((endpoint) =>
          fixture.system.send(fixture.queueUrl, writeTask(readTask(fixture.subject, { endpoint }, 1))),
        ),
      );
      fixture.remote.answer = ({ path }) =>
        Number(path.at(-1)) < 5 ? 503 : { status: 429, headers: { "retry-after": "700" }, text: "" };
      fixture.retrying = { ...fixture.retrying, retry: { baseSeconds: 10, maxSeconds: 900 } };
      const before = requests();
      const kept = await deliver(fixture.system, fixture.queueUrl, fetcherOf(), { firstReceivedAt: noon });
      expect(kept).toHaveLength(5);
      expect(fixture.sent).toHaveLength(5);
      expect(requests()).toEqual({ sent: before.sent + 1, hidden: before.hidden + 1 });
    });

    test("is given up into the dead-letter queue after the longest outage, with the reason", async () => {
      fixture.remote.answer = () => 503;
      expect(await perform(read(70, hoursAgo(72)))).toEqual([]);
      const [deadLetter, ...others] = await deadLetters();
      expect(others).toEqual([]);
      expect(deadLetter?.reason).toBe(
        "the provider answered 503; given up after 72 hours, see fetch.longestOutageHours",
      );
      // Redriven, it starts over.
      expect(readTaskText(deadLetter?.body ?? "")).toEqual(read());
      expect(codes()).toEqual(["MESSAGE_REJECTED"]);
      expect(await fixture.known.loadDocument(fixture.subject, { endpoint: "income" })).toMatchObject({
        done: 0,
      });
    });

    test("says how often it was redriven wherever it goes: sent again, and into the dead-letter queue", async () => {
      fixture.remote.answer = () => 503;
      const redriven = (task: Task) =>
        sqsSender(fixture.system.sqs)(fixture.queueUrl, [{ body: writeTask(task), returns: "1 run" }]);
      await redriven(read(1));
      await deliver(fixture.system, fixture.queueUrl, fetcherOf(), { firstReceivedAt: noon, receives: 5 });
      expect(fixture.sent).toMatchObject([{ returns: "1 run" }]);
      await redriven(read(70, hoursAgo(72)));
      await deliver(fixture.system, fixture.queueUrl, fetcherOf(), { firstReceivedAt: noon });
      const [deadLetter] = await fixture.system.drain(fixture.deadLetterQueueUrl);
      expect(deadLetter?.MessageAttributes?.returns?.StringValue).toBe("1 run");
    });

    test("is not given up before, however often it was tried", async () => {
      fixture.remote.answer = () => 503;
      expect(await postponed(read(9_999, hoursAgo(71.9)))).toMatchObject([{ delay: 450 }]);
      expect(await deadLetters()).toEqual([]);
    });

    test("does its work when the provider is back", async () => {
      fixture.remote.answer = () => 503;
      await perform(read());
      fixture.remote.answer = () => ({ json: [1] });
      expect(await perform(read(1))).toEqual([]);
      expect(await content()).toMatchObject({ content: "[1]" });
    });

    test("stays in its queue while neither queue can be written to", async () => {
      fixture.remote.answer = () => 503;
      const working = fixture.system.fail("sqs:SendMessageBatch");
      for (const task of [read(), read(2, hoursAgo(100))]) {
        expect(await perform(task)).toEqual([writeTask(task)]);
        expect(codes()).toEqual(["MESSAGE_FAILED"]);
      }
      working();
      expect(await deadLetters()).toEqual([]);
    });

    test("does not hold up the other tasks of its batch", async () => {
      await request("profile");
      await fixture.system.send(
        fixture.queueUrl,
        writeTask(readTask(fixture.subject, { endpoint: "profile" }, 1)),
      );
      fixture.remote.answer = ({ path }) => (path.endsWith("/profile") ? { json: {} } : 503);
      expect(await perform(read())).toEqual([]);
      expect(codes().toSorted()).toEqual(["TASK_DONE", "TASK_POSTPONED"]);
      expect(await content("profile")).toMatchObject({ content: "{}" });
    });
  });

  test.each([400, 403])("a task that the provider answers with %i is given up at once", async (status) => {
    await request("income");
    fixture.remote.answer = () => status;
    await perform(readTask(fixture.subject, { endpoint: "income" }, 1));
    expect(await deadLetters()).toMatchObject([{ reason: `the provider answered ${status}` }]);
  });

  test.each([400, 403])("a start or an ask that is answered with %i is given up at once", async (status) => {
    await put();
    fixture.remote.answer = () => status;
    for (const task of [startTask(fixture.subject, 1), fetchStateTask(fixture.subject, 1)]) {
      await perform(task, started);
      expect(await deadLetters()).toMatchObject([{ reason: `the provider answered ${status}` }]);
    }
    expect(calls()).toHaveLength(2);
  });

  test.each([
    ["no JSON", "hello", "the task is not JSON"],
    ["no version", '{"schemaVersion":0}', "schemaVersion: expected a whole number from 1 on"],
    [
      "no task",
      '{"schemaVersion":1,"attempts":0,"subject":{"kind":"user","id":"u"},"task":"x"}',
      "task: expected start, read, ask or check",
    ],
    ["nobody", '{"schemaVersion":1,"attempts":0,"task":"ask","version":1}', "subject: expected an object"],
  ])("a message that is %s goes to the dead-letter queue with its reason", async (_, message, reason) => {
    expect(await perform(message)).toEqual([]);
    expect(await deadLetters()).toEqual([{ body: message, reason }]);
  });

  test("a task of a later release stays in the queue as it is, beside others that are done", async () => {
    await request("income");
    fixture.remote.answer = () => ({ json: {} });
    const later = JSON.stringify({
      ...readTask(fixture.subject, { endpoint: "income" }, 1),
      schemaVersion: 3,
    });
    await fixture.system.send(fixture.queueUrl, later);
    const left = await perform(readTask(fixture.subject, { endpoint: "income" }, 1));
    expect(left).toEqual([later]);
    expect(fixture.entries).toMatchObject([
      { code: "TASK_DONE" },
      { code: "TASK_POSTPONED", delayInSeconds: 60, reason: expect.stringContaining("later release") },
    ]);
    expect(await deadLetters()).toEqual([]);
  });

  test("while the provider is down a task costs no read, no claim and no call", async () => {
    const nervous = { ...provider, breaker: { failures: 1, baseSeconds: 100, maxSeconds: 300 } };
    await request("income");
    await request("profile");
    fixture.remote.answer = () => 503;
    const fetch = fetcherOf(nervous);
    await fixture.system.send(
      fixture.queueUrl,
      writeTask(readTask(fixture.subject, { endpoint: "income" }, 1)),
    );
    await deliver(fixture.system, fixture.queueUrl, fetch, { firstReceivedAt: noon });
    const counted = () =>
      ["GetItem", "UpdateItem", "PutItem", "BatchExecuteStatement"].map((name) =>
        fixture.system.calls().get(`test dynamodb:${name}`),
      );
    const before = counted();
    await fixture.system.send(
      fixture.queueUrl,
      writeTask(readTask(fixture.subject, { endpoint: "profile" }, 1)),
    );
    await deliver(fixture.system, fixture.queueUrl, fetch, { firstReceivedAt: noon });
    expect(counted()).toEqual(before);
    expect(calls()).toHaveLength(1);
    expect(fixture.entries.at(-1)).toMatchObject({
      code: "TASK_POSTPONED",
      reason: "the provider is down",
      attempts: 0,
    });
    expect(await deadLetters()).toEqual([]);
  });

  test("more tasks than the rate allows wait for the next window, which is no attempt", async () => {
    // A rate of five a minute is cut into three windows of one call.
    const slow = { ...provider, requestsPerMinute: 5 };
    const endpoints = ["a", "b", "c", "d"];
    for (const endpoint of endpoints) await request(endpoint);
    fixture.remote.answer = () => ({ json: {} });
    for (const endpoint of endpoints) {
      await fixture.system.send(
        fixture.queueUrl,
        writeTask({ ...readTask(fixture.subject, { endpoint }, 1), attempts: 2 }),
      );
    }
    const kept = await deliver(fixture.system, fixture.queueUrl, fetcherOf(slow), { firstReceivedAt: noon });
    expect(calls()).toHaveLength(1);
    expect(kept.map(readTaskText)).toMatchObject([{ attempts: 2 }, { attempts: 2 }, { attempts: 2 }]);
    expect(fixture.entries.filter(({ code }) => code === "TASK_POSTPONED")).toEqual(
      Array.from({ length: 3 }, () =>
        expect.objectContaining({ reason: "the provider's rate is used up", delayInSeconds: 40 }),
      ),
    );
    expect(await deadLetters()).toEqual([]);
  });
});
