import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import type { DataName } from "../../../domain/fetch/document.ts";
import { deduplicationOf, type FetchTask, readTask, stateTask } from "../../../domain/fetch/task.ts";
import type { State } from "../../../domain/state/state.ts";
import { describeOnTables } from "../../support/engines.ts";
import { fetcherFixture, income, noon, readAfterSeconds } from "../support/fetcher-fixture.ts";
import { provider, started } from "../support/fetcher-settings.ts";

await describeOnTables("the fetcher", (tables) => {
  const fixture = fetcherFixture(tables);
  const { fetcherOf, seenNow, perform, performCheck, codes, calls, put, stored } = fixture;
  const start = (version = 4) =>
    stateTask("startFetch", fixture.subject, version, { correlationId: "the-event", userId: "u" });
  /** Takes the messages of the fetch queue. */
  const requested = async (): Promise<readonly FetchTask[]> =>
    (await fixture.system.receive(fixture.tasks.queue.url)).map(({ Body = "" }) => readTask(Body));
  const endpointsOf = (tasks: readonly FetchTask[]) =>
    tasks.map((task) => (task.type === "fetchDocument" ? task.endpoint : task.type)).toSorted();

  describe("starting an account's fetch", () => {
    beforeEach(() => put());

    test("calls the path of the settings with the body filled in, and reads nothing yet", async () => {
      fixture.remote.answer = () => ({ status: 202, json: { ok: true } });
      expect(await perform(start(), started)).toEqual([]);
      expect(fixture.remote.requests).toMatchObject([
        {
          method: "POST",
          path: `/accounts/${fixture.subject.id}/fetches`,
          body: '{"endpoints":["income","profile"]}',
          headers: { authorization: "Bearer jwt" },
        },
      ]);
      expect(codes()).toEqual(["TASK_DONE"]);
      expect(await requested()).toEqual([]);
    });

    test.each([provider, started])("is skipped if the account is unknown (%#)", async (settings) => {
      fixture.subject = { kind: "account", id: randomUUID() };
      expect(await perform(start(), settings)).toEqual([]);
      expect(codes()).toEqual(["TASK_SKIPPED"]);
      expect(calls()).toEqual([]);
      expect(await requested()).toEqual([]);
    });

    test("is skipped if the account was erased", async () => {
      await fixture.erase(fixture.subject);
      expect(await perform(start(), started)).toEqual([]);
      expect(codes()).toEqual(["TASK_SKIPPED"]);
      expect(calls()).toEqual([]);
    });

    test("does not read endpoints that are read by ranges", async () => {
      const readRange = { income: "/a/{account_id}?from={date_start}&to={date_end}" };
      expect(await perform(start(), { ...provider, paths: { ...provider.paths, readRange } })).toEqual([]);
      expect(endpointsOf(await requested())).toEqual(["profile"]);
    });

    test("reads each endpoint once if no path is set", async () => {
      expect(await perform(start())).toEqual([]);
      expect(calls()).toEqual([]);
      const tasks = await requested();
      expect(endpointsOf(tasks)).toEqual(["income", "profile"]);
      for (const task of tasks) {
        expect(task).toMatchObject({ since: noon.getTime(), correlationId: "the-event", userId: "u" });
      }
    });

    test("of a company account reads its endpoints, whatever the path of accounts is", async () => {
      fixture.subject = { kind: "company-account", id: randomUUID() };
      await put();
      await perform(start(), started);
      expect(calls()).toEqual([]);
      expect(endpointsOf(await requested())).toEqual(["income", "profile"]);
    });

    test.each([
      [404, "the provider does not know the account yet"],
      [410, "the account is gone"],
      [409, "a fetch is already running, or the account is no longer connected"],
    ])("answered with %i is done and checked: %s", async (status) => {
      fixture.remote.answer = () => status;
      expect(await perform(start(), started)).toEqual([]);
      expect(codes()).toEqual(["TASK_DONE"]);
      expect(await fixture.checks.depth()).toMatchObject({ delayed: 1 });
    });
  });

  describe("a start that was called", () => {
    const connected = { version: 4, connected: true, unconfirmed: false };
    const range = { start: "2026-01-01", end: "2026-01-31" };

    /**
     * Starts, runs an action, and delivers the check, which was sent this many seconds after noon, when it is
     * due.
     */
    async function startAndCheck(
      between: () => Promise<unknown> = async () => undefined,
      callSeconds = 0,
    ): Promise<void> {
      await put(connected);
      fixture.remote.answer = () => ({ status: 202, json: {} });
      const bodies: string[] = [];
      const { send } = capture(bodies);
      await fixture.tasks.send([start()]);
      await fixture.tasks.deliver(fetcherOf(started, { send }), seenNow());
      await between();
      const sentAt = new Date(noon.getTime() + callSeconds * 1000);
      fixture.clock = new Date(sentAt.getTime() + readAfterSeconds * 1000);
      const [check = ""] = bodies;
      await performCheck(readTask(check), { sentAt });
    }
    const capture = (bodies: string[]) => ({
      send: async (_: string, messages: readonly { readonly body: string }[]) => {
        bodies.push(...messages.map(({ body }) => body));
        return messages.map(() => undefined);
      },
    });

    test("without an answer reads all its documents", async () => {
      await startAndCheck(undefined, 5);
      const tasks = await requested();
      expect(endpointsOf(tasks)).toEqual(["income", "profile"]);
      for (const task of tasks) {
        expect(task).toMatchObject({
          since: noon.getTime() + 5_000,
          correlationId: "the-event",
          userId: "u",
        });
      }
      expect(fixture.entries).toMatchObject([
        { code: "START_UNANSWERED", count: 2, correlationId: "the-event" },
        { code: "TASK_DONE", correlationId: "the-event" },
      ]);
    });

    test.each<[string, [number, number], DataName, readonly string[]]>([
      ["reads only documents that were not read since", [-60, 0], income, ["profile"]],
      ["is answered by data of a range of dates too", [-60, 0], { ...income, range }, ["profile"]],
      ["is not answered by a document that was read before it", [60, 0], income, ["income", "profile"]],
      // Events of its data may be lost.
      [
        "is not answered by a document that was read during its call",
        [-20, 30],
        income,
        ["income", "profile"],
      ],
    ])("%s", async (_, [secondsAgo, callSeconds], name, left) => {
      await startAndCheck(() => stored("[1]", secondsAgo, name), callSeconds);
      expect(endpointsOf(await requested())).toEqual(left);
      expect(fixture.entries).toMatchObject([
        { code: "START_UNANSWERED", count: left.length },
        { code: "TASK_DONE" },
      ]);
    });

    test("that is checked twice requests its documents twice, which SQS does not drop as duplicates", async () => {
      await put(connected);
      fixture.clock = new Date(noon.getTime() + 2 * readAfterSeconds * 1000);
      const bodies: string[] = [];
      for (const seconds of [5, 60]) {
        const sentAt = new Date(noon.getTime() + seconds * 1000);
        await fixture.checks.send([{ ...start(), type: "verifyStart" }]);
        await fixture.checks.deliver(fetcherOf(started, capture(bodies)), seenNow({ sentAt }));
        expect(bodies.slice(-2).map((body) => readTask(body))).toMatchObject([
          { since: sentAt.getTime() },
          { since: sentAt.getTime() },
        ]);
      }
      expect(new Set(bodies.map((body) => deduplicationOf(readTask(body)))).size).toBe(4);
    });

    test("reads nothing if everything was read since", async () => {
      await startAndCheck(async () => {
        for (const endpoint of ["income", "profile"]) await stored("[1]", -60, { endpoint });
      });
      expect(await requested()).toEqual([]);
      expect(codes()).toEqual(["TASK_SKIPPED"]);
    });

    test.each([
      ["from its receipt on, without a read", 1, 900, 2_701],
      ["the last seconds", 2, 3_540, 61],
    ])("is invisible until its check is due: %s", async (_, receives, afterSeconds, delayInSeconds) => {
      await put(connected);
      const reads = () => fixture.system.calls().get("test dynamodb:BatchGetItem") ?? 0;
      const before = reads();
      fixture.clock = new Date(noon.getTime() + afterSeconds * 1000);
      expect(
        await performCheck({ ...start(), type: "verifyStart" }, { sentAt: noon, receives }),
      ).toHaveLength(1);
      expect(fixture.postponed()).toEqual([{ delayInSeconds, reason: "the start can still be answered" }]);
      expect(reads() - before).toBe(receives - 1);
      expect(await fixture.checks.depth()).toMatchObject({ visible: 0, hidden: 1 });
      expect(await requested()).toEqual([]);
    });

    test.each<[string, Partial<State>]>([
      ["disconnected", { connected: false }],
      ["deleted", { deleted: true }],
    ])("is skipped if the account was %s later", async (_, facts) => {
      await startAndCheck(() =>
        fixture.known.reviseState(fixture.subject, (state) => state && { ...state, ...facts, version: 5 }),
      );
      expect(await requested()).toEqual([]);
      expect(codes()).toEqual(["TASK_SKIPPED"]);
    });

    test("has a check that is given up to the dead letters of its own queue, which is not a FIFO queue", async () => {
      await fixture.checks.send(["no task"]);
      await fixture.checks.deliver(fetcherOf(started), seenNow());
      expect(await fixture.checks.deadLetters()).toMatchObject([{ reason: "the task is not JSON" }]);
      expect(await fixture.tasks.deadLetters()).toEqual([]);
    });
  });
});
