import { beforeEach, expect, test } from "vitest";
import { itemReader } from "../../../adapters/dynamodb/batching.ts";
import { CircuitBreaker } from "../../../adapters/provider/circuit-breaker.ts";
import { describeOnEachTable } from "../../support/engines.ts";
import { systemWithTable } from "../../support/system-with-table.ts";

const settings = { failures: 3, baseSeconds: 10, maxSeconds: 300 };
const dead = { pauseInSeconds: 0 };

await describeOnEachTable("the breaker", (tables) => {
  const made = systemWithTable(tables);
  let time: number;
  let turns: string[];
  beforeEach(async () => {
    made.table = await made.system.createTable();
    time = Date.parse("2026-11-21T12:00:00Z");
    turns = [];
  });

  /** One environment. With the maximum random number, a wait is its upper bound. */
  const environment = (): CircuitBreaker =>
    new CircuitBreaker(made.system.dynamodb, made.table.name, {
      settings,
      read: itemReader(made.system.dynamodb, made.table.name),
      longestCallInSeconds: 45,
      now: () => new Date(time),
      random: () => 1,
      onStateChange: (turn) => turns.push(turn),
    });
  const caller = () => {
    const breaker = environment();
    return () => breaker.admit();
  };
  const pass = (seconds: number) => {
    time += seconds * 1_000;
  };
  const fail = async (admit: CircuitBreaker["admit"], times: number) => {
    for (let count = 0; count < times; count += 1) await (await admit())(dead);
  };
  const outcomes = async (asked: readonly ReturnType<CircuitBreaker["admit"]>[]) => {
    const settled = await Promise.allSettled(asked);
    return settled.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  };
  const reads = () => made.system.calls().get("test dynamodb:GetItem") ?? 0;
  const writes = () => made.system.calls().get("test dynamodb:UpdateItem") ?? 0;

  test("admits every call while the provider is healthy, for one read in five seconds and no write", async () => {
    const admit = caller();
    const before = { reads: reads(), writes: writes() };
    for (let second = 0; second < 20; second += 1) {
      for (let call = 0; call < 5; call += 1) await (await admit())("healthy");
      pass(1);
    }
    expect(reads() - before.reads).toBe(4);
    expect(writes()).toBe(before.writes);
  });

  test("stays closed for one call that is refused again and again", async () => {
    const admit = caller();
    await (await admit())(dead);
    for (let again = 0; again < 10; again += 1) await (await admit())({ ...dead, isRepeated: true });
    expect(await admit()).toBeTypeOf("function");
    expect(turns).toEqual([]);
  });

  test("shares one read between concurrent callers, and retries after a failed one", async () => {
    const breaker = environment();
    const before = reads();
    await Promise.all(Array.from({ length: 10 }, () => breaker.load()));
    expect(reads() - before).toBe(1);

    pass(6);
    const stop = made.system.intercept(async () => ({
      status: 400,
      errorType: "ValidationException",
      message: "no",
    }));
    const failed = await Promise.allSettled([breaker.load(), breaker.load()]);
    stop();
    expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await breaker.load();
  });

  test("has a gate that makes no request, and stops only what is known to be down", async () => {
    await fail(caller(), settings.failures);
    const breaker = environment();
    const gate = () => breaker.gate();
    const before = reads();
    expect(gate).not.toThrow();
    expect(reads()).toBe(before);
    await breaker.load();
    expect(gate).toThrow("the provider is down");
    pass(10);
    const written = writes();
    expect(gate).not.toThrow();
    expect(writes()).toBe(written);
  });

  test("stays closed while failures come between successes", async () => {
    const admit = caller();
    for (let round = 0; round < 5; round += 1) {
      await fail(admit, settings.failures - 1);
      await (await admit())("healthy");
    }
    await expect(admit()).resolves.toBeTypeOf("function");
  });

  test("opens for all callers after one's failures in a row, and reports it once", async () => {
    const [first, second] = [caller(), caller()];
    await fail(first, settings.failures);
    for (const admit of [first, second]) {
      await expect(admit()).rejects.toMatchObject({
        failure: { waitsFor: "provider", delayInSeconds: 10, spreadInSeconds: 40 },
      });
    }
    expect(turns).toEqual(["open"]);
  });

  test("reaches a caller with a cached closed state within five seconds", async () => {
    const [first, second] = [caller(), caller()];
    await second();
    await fail(first, settings.failures);
    await expect(second()).resolves.toBeTypeOf("function");
    pass(5);
    await expect(second()).rejects.toMatchObject({ failure: { waitsFor: "provider" } });
  });

  test("lets one caller probe when its wait ends, and closes when the provider is healthy", async () => {
    const callers = Array.from({ length: 8 }, caller);
    await fail(callers[0] ?? caller(), settings.failures);
    pass(10);
    const probes = await outcomes(callers.flatMap((admit) => [admit(), admit()]));
    expect(probes).toHaveLength(1);
    await probes[0]?.("healthy");
    expect(await outcomes(callers.map((admit) => admit()))).toHaveLength(1);
    pass(5);
    expect(await outcomes(callers.map((admit) => admit()))).toHaveLength(8);
    expect(turns).toEqual(["open", "closed"]);
  });

  test("starts over with the first wait when the provider was back in between", async () => {
    const admit = caller();
    await fail(admit, settings.failures);
    pass(10);
    await fail(admit, 1);
    pass(20);
    await (await admit())("healthy");
    await fail(admit, settings.failures);
    await expect(admit()).rejects.toMatchObject({ failure: { delayInSeconds: 10 } });
    expect(turns).toEqual(["open", "open", "closed", "open"]);
  });

  test("lets another caller probe if the first never reports", async () => {
    const [first, second] = [caller(), caller()];
    await fail(first, settings.failures);
    pass(10);
    await first();
    await expect(second()).rejects.toMatchObject({ failure: { delayInSeconds: 45 } });
    pass(45);
    await expect(second()).resolves.toBeTypeOf("function");
  });

  test("pauses all callers at once for as long as the provider asks, without opening", async () => {
    const [first, second] = [caller(), caller()];
    await (await first())({ pauseInSeconds: 120 });
    await expect(first()).rejects.toMatchObject({ failure: { delayInSeconds: 120 } });
    await expect(second()).rejects.toMatchObject({ failure: { delayInSeconds: 120 } });
    pass(120);
    await (await second())("healthy");
    expect(await outcomes([second(), second(), second()])).toHaveLength(3);
    expect(turns).toEqual([]);
  });

  test("keeps the longest requested pause, even over its own longest wait", async () => {
    const admit = caller();
    const reports = await outcomes([admit(), admit(), admit()]);
    for (const [index, pauseInSeconds] of [60, 3_600, 30].entries())
      await reports[index]?.({ pauseInSeconds });
    await expect(admit()).rejects.toMatchObject({ failure: { delayInSeconds: 3_600 } });
  });

  test("ignores late reports of calls that began before it opened", async () => {
    const admit = caller();
    const reports = await outcomes(Array.from({ length: 10 }, () => admit()));
    for (const report of reports.slice(0, 9)) await report(dead);
    await reports[9]?.("healthy");
    await expect(admit()).rejects.toMatchObject({ failure: { delayInSeconds: 10 } });
    expect(turns).toEqual(["open"]);
  });

  test("whose table fails on a report returns the call's own result", async () => {
    const admit = caller();
    await fail(admit, settings.failures - 1);
    const report = await admit();
    const working = made.system.fail("dynamodb:UpdateItem");
    await expect(report(dead)).resolves.toBeUndefined();
    working();
    expect(turns).toEqual([]);
  });
});
