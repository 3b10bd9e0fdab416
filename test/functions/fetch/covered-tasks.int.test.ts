import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { serviceClock } from "../../../adapters/aws/client.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import { messageDigest } from "../../../domain/fetch/document.ts";
import { describeOnTables } from "../../support/engines.ts";
import type { ProviderAnswer } from "../../support/test-provider.ts";
import { fetcherFixture, income } from "../support/fetcher-fixture.ts";
import { provider } from "../support/fetcher-settings.ts";

const user = { kind: "user", id: "u" } as const;

await describeOnTables("the fetcher, with tasks that a call covers,", (tables) => {
  const fixture = fetcherFixture(tables);
  const { fetcherOf, seenNow, perform, codes, calls, read, stored, document, content, erase } = fixture;

  describe("of one batch", () => {
    test("calls once for all open tasks of a document, and records the message of each", async () => {
      fixture.remote.answer = () => ({ text: "[1]" });
      await fixture.tasks.send([read(), read(income, 1), read(income, 0)]);
      const { left, messageIds } = await fixture.tasks.deliver(fetcherOf(), seenNow());
      expect(left).toEqual([]);
      expect(calls()).toHaveLength(1);
      expect(codes()).toEqual(["TASK_DONE", "TASK_DONE", "TASK_DONE"]);
      expect((await document())?.by.toSorted()).toEqual(messageIds.map(messageDigest).toSorted());
    });

    test("calls for open tasks beside skipped ones", async () => {
      await stored("[0]", 5);
      fixture.remote.answer = () => ({ text: "[1]" });
      expect(await perform([read(income, 60), read(income, 0)])).toEqual([]);
      expect(calls()).toHaveLength(1);
      expect(codes().toSorted()).toEqual(["TASK_DONE", "TASK_SKIPPED"]);
    });

    test("fails all tasks of a failed call, and no others", async () => {
      fixture.remote.answer = ({ path }) => (path.endsWith("income") ? 503 : { json: [] });
      const left = await perform([read(), read(), read({ endpoint: "profile" })]);
      expect(left).toHaveLength(2);
      expect(codes().toSorted()).toEqual(["TASK_DONE", "TASK_POSTPONED", "TASK_POSTPONED"]);
      expect(calls().filter((call) => call.endsWith("income"))).toHaveLength(1);
    });
  });

  test("that were covered before does not call again for a message that is delivered twice, however new its task is", async () => {
    fixture.remote.answer = () => ({ text: "[1]" });
    await fixture.tasks.send([read(income, -1)]);
    // Its deletion is lost, after the call and the write.
    const handler = fetcherOf();
    await fixture.tasks.deliver(async (event, context) => {
      await handler(event, context);
      return { batchItemFailures: event.Records.map(({ messageId }) => ({ itemIdentifier: messageId })) };
    }, seenNow());
    expect(await fixture.performAgain()).toMatchObject({ left: [] });
    expect(calls()).toHaveLength(1);
    expect(codes()).toEqual(["TASK_SKIPPED"]);
  });

  test("is done if only the response to a write was lost: the document shows that its messages are covered", async () => {
    let isFirst = true;
    const working = fixture.system.intercept(async ({ action }, phase) => {
      if (action !== "dynamodb:BatchExecuteStatement" || phase !== "after" || !isFirst) return undefined;
      isFirst = false;
      return { status: 400, errorType: "SomeException", message: "injected by the test" };
    });
    fixture.remote.answer = () => ({ text: "[1]" });
    expect(await perform(read(income, 0))).toEqual([]);
    working();
    expect(codes()).toEqual(["TASK_DONE"]);
    expect(await content()).toBe("[1]");
    expect(calls()).toHaveLength(1);
  });

  test("with a write that another was faster than is invisible for two seconds if another call's write does not cover it, then called again", async () => {
    fixture.remote.answer = async (_, count) => {
      if (count === 1) await stored("[2]", 30);
      return { text: `[${count}]` };
    };
    expect(await perform([read(), read()])).toHaveLength(2);
    expect(fixture.postponed()).toEqual(
      [1, 2].map(() => ({ delayInSeconds: 2, reason: "the document was written by another call" })),
    );
    expect(await fixture.tasks.depth()).toMatchObject({ visible: 0, hidden: 2 });
    expect(await content()).toBe("[2]");
    fixture.remote.answer = () => ({ text: "[3]" });
    expect(await fixture.performAgain()).toMatchObject({ left: [] });
    expect(await content()).toBe("[3]");
  });

  describe("of erased subjects", () => {
    test("does not call for an erased subject", async () => {
      await erase(fixture.subject);
      expect(await perform([read(), read()])).toEqual([]);
      expect(calls()).toEqual([]);
      expect(codes()).toEqual(["TASK_SKIPPED", "TASK_SKIPPED"]);
      expect(await document()).toBeUndefined();
    });

    test("does not call for tasks that are about an erased user, and calls for the others of its document", async () => {
      await erase(user);
      fixture.remote.answer = () => ({ text: "[1]" });
      await fixture.tasks.send([
        read(income, 10, { userId: user.id }),
        read(income, 10, { userId: "another" }),
      ]);
      const { messageIds } = await fixture.tasks.deliver(fetcherOf(), seenNow());
      expect(codes().toSorted()).toEqual(["TASK_DONE", "TASK_SKIPPED"]);
      expect(calls()).toHaveLength(1);
      const { by = [] } = (await document()) ?? {};
      expect(by).toHaveLength(1);
      expect(messageIds.map(messageDigest)).toContain(by[0]);
    });

    test("does not call while erasures can't be read", async () => {
      const working = fixture.system.fail("dynamodb:BatchGetItem");
      expect(await perform(read())).toHaveLength(1);
      working();
      expect(calls()).toEqual([]);
    });

    test("does not bring back a document that is erased while the provider answers", async () => {
      await stored("[0]", 60);
      fixture.remote.answer = async () => {
        await erase(fixture.subject);
        await fixture.removeDocument();
        return { text: "[1]" };
      };
      expect(await perform(read())).toHaveLength(1);
      expect(await document()).toBeUndefined();
      expect(await fixture.performAgain()).toMatchObject({ left: [] });
      expect(codes()).toEqual(["TASK_SKIPPED"]);
      expect(await document()).toBeUndefined();
    });
  });

  describe("of webhooks that came within the last second", () => {
    const ofWebhook = { correlationId: "event", cause: "event.1" };
    /** Holds the fetcher's reads of the table until the provider is called, each for at most two seconds. */
    const hold = () => {
      const called = Promise.withResolvers<void>();
      const held: { isCalledMeanwhile?: boolean } = {};
      const end = fixture.system.intercept(async ({ action, body }, phase) => {
        const isFirst = held.isCalledMeanwhile === undefined;
        if (action !== "dynamodb:BatchGetItem" || phase !== "before") return undefined;
        if (!isFirst && !body.includes("ERASED#")) return undefined;
        held.isCalledMeanwhile ??= false;
        const isCalled = await Promise.race([called.promise.then(() => true), sleep(2_000, false)]);
        if (isFirst) held.isCalledMeanwhile = isCalled;
        return undefined;
      });
      onTestFinished(end);
      return { held, called: called.resolve };
    };

    /** An environment that has just read the breaker's state. */
    const warm = async () => {
      const fetch = fetcherOf();
      await fixture.tasks.send([read({ endpoint: "profile" })]);
      fixture.remote.answer = () => 404;
      await fixture.tasks.deliver(fetch, seenNow());
      fixture.remote.requests.length = 0;
      fixture.entries.length = 0;
      return fetch;
    };

    test.each([
      ["a new task", [0.9], ofWebhook, {}, true],
      ["an older task", [1], ofWebhook, {}, false],
      ["a task that is delivered again", [0.9], ofWebhook, { receives: 2 }, false],
      ["a task of no webhook", [0.9], { correlationId: "event", cause: "start.1" }, {}, false],
      ["a new task beside an older one", [0.9, 5], ofWebhook, {}, false],
    ] as const)("calls once, early or not: %s", async (...[, ages, cause, seen, isEarly]) => {
      const fetch = await warm();
      const { held, called } = hold();
      fixture.remote.answer = () => {
        called();
        return { text: "[1]" };
      };
      const given = ages.map((age, index) =>
        read(income, age, { ...cause, cause: `${cause.cause}${index}` }),
      );
      await fixture.tasks.send(given);
      expect((await fixture.tasks.deliver(fetch, seenNow(seen))).left).toEqual([]);
      expect(held).toEqual({ isCalledMeanwhile: isEarly });
      expect(calls()).toHaveLength(1);
      expect(await content()).toBe("[1]");
    });

    const postponed = (content: string | undefined) => ({ codes: ["TASK_POSTPONED"], content });
    const skipped = { codes: ["TASK_SKIPPED"], content: undefined };
    const erased = async (whom: Subject) => {
      await erase(whom);
      return { text: "[1]" };
    };
    const written = async (secondsAgo: number) => {
      await stored("[2]", secondsAgo);
      return { text: "[1]" };
    };
    test.each<
      [string, () => Promise<ProviderAnswer>, { codes: readonly string[]; content: string | undefined }]
    >([
      ["the account is erased", () => erased(fixture.subject), skipped],
      ["the user is erased", () => erased(user), skipped],
      ["an earlier call is written", () => written(0.1), { codes: ["TASK_DONE"], content: "[1]" }],
      // Its data may be newer.
      ["a later call is written", () => written(0), postponed("[2]")],
      ["the provider fails", async () => 503, postponed(undefined)],
    ])("writes only what the read that follows allows: %s during the call", async (_, answer, expected) => {
      const fetch = await warm();
      const { called } = hold();
      fixture.remote.answer = async () => {
        const answered = await answer();
        called();
        return answered;
      };
      await fixture.tasks.send([read(income, 0, { ...ofWebhook, userId: user.id })]);
      await fixture.tasks.deliver(fetch, seenNow());
      expect({ codes: codes(), content: await content() }).toEqual(expected);
      expect(calls()).toHaveLength(1);
    });

    test("writes nothing if the table can't be read, and ends after the call", async () => {
      const fetch = await warm();
      const answered = Promise.withResolvers<void>();
      fixture.remote.answer = async () => {
        await answered.promise;
        return { text: "[1]" };
      };
      await fixture.tasks.send([read(income, 0, ofWebhook)]);
      const working = fixture.system.fail("dynamodb:BatchGetItem");
      onTestFinished(working);
      const ended = fixture.tasks.deliver(fetch, seenNow()).then(({ left }) => left);
      // Longer than the read's retries.
      expect(await Promise.race([ended, sleep(500, "goes on")])).toBe("goes on");
      answered.resolve();
      expect(await ended).toHaveLength(1);
      working();
      expect(await document()).toBeUndefined();
    });
  });

  test.each([-1, 1])(
    "by clocks of which the function's own is wrong by an hour (%d) decides and stores the same",
    async (hours) => {
      fixture.remote.answer = () => ({ text: "[1]" });
      const clock = serviceClock(fixture.system.dynamodb);
      const now = () => new Date(Date.now() + hours * 3_600_000);
      const before = Math.floor(Date.now() / 1000) * 1000;
      fixture.clock = new Date();
      // Times of the engines themselves: when messages were sent and first received, and DynamoDB's date.
      await fixture.tasks.send([read(income, 0)]);
      await fixture.tasks.deliver(fetcherOf(provider, { clock, now }));
      const { asOf = 0 } = (await document()) ?? {};
      expect(asOf).toBeGreaterThanOrEqual(before);
      expect(asOf).toBeLessThanOrEqual(Date.now());
      await fixture.tasks.send([read(income, 10)]);
      await fixture.tasks.deliver(fetcherOf(provider, { clock, now }));
      expect(codes()).toEqual(["TASK_SKIPPED"]);
      expect(calls()).toHaveLength(1);
    },
  );
});
