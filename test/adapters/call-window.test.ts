import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { callWindow, type Permit } from "../../adapters/call-window.ts";
import { describeOnTables, startTestSystem, type TestSystem, type TestTable } from "../support/engines.ts";

/** Half a minute into window 29,395,920, which ends at 12:01:00. */
const start = Date.parse("2026-11-21T12:00:30Z");

await describeOnTables("the call window", (tables) => {
  let system: TestSystem;
  let table: TestTable;
  let time: number;

  beforeAll(async () => {
    system = await startTestSystem(tables);
  });
  afterAll(() => system.close());
  beforeEach(async () => {
    table = await system.createTable();
    time = start;
  });

  const caller = (callsPerWindow: number) =>
    callWindow(system.dynamodb, table.name, callsPerWindow, () => new Date(time));
  const used = async (at = time) => (await table.item("RATE", `WINDOW#${Math.floor(at / 60_000)}`))?.used;
  const updates = () => system.calls().get("test dynamodb:UpdateItem") ?? 0;

  /** How many of so many permits, asked for at once by each caller, were given. */
  async function given(callers: readonly Permit[], timesEach: number): Promise<number> {
    const asked = callers.flatMap((permit) => Array.from({ length: timesEach }, () => permit()));
    const outcomes = await Promise.allSettled(asked);
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") {
        expect(outcome.reason).toMatchObject({
          failure: {
            kind: "retryable",
            reason: "the provider's rate is used up",
            delayInSeconds: 30,
            isWaiting: true,
          },
        });
      }
    }
    return outcomes.filter(({ status }) => status === "fulfilled").length;
  }

  test.each([
    [1, 1],
    [7, 7],
    // Lots of two: the last call of an odd rate is never leased.
    [25, 24],
    [100, 100],
    [1_000, 1_000],
  ])(
    "of a rate of %i a minute gives %i calls to one caller, and then the time to wait",
    async (rate, calls) => {
      expect(await given([caller(rate)], rate + 30)).toBe(calls);
      expect(await used()).toBe(calls);
    },
  );

  test("many callers together never make more calls than the rate, and share all of it", async () => {
    const callers = Array.from({ length: 12 }, () => caller(100));
    expect(await given(callers, 20)).toBe(100);
    expect(await used()).toBe(100);
  });

  test("calls are leased in lots: a hundred calls of a thousand are five writes", async () => {
    const before = updates();
    expect(await given([caller(1_000)], 100)).toBe(100);
    expect(updates() - before).toBe(5);
    expect(await used()).toBe(100);
  });

  test("the next window gives the whole rate again, and what was left of a lot is not carried over", async () => {
    const permit = caller(100);
    expect(await given([permit], 101)).toBe(100);
    time = Date.parse("2026-11-21T12:00:59.999Z");
    await expect(permit()).rejects.toMatchObject({ failure: { delayInSeconds: 1 } });
    time = Date.parse("2026-11-21T12:01:00Z");
    await permit();
    expect(await used()).toBe(10);
    time = Date.parse("2026-11-21T12:02:30Z");
    expect(await given([permit], 120)).toBe(100);
    expect(await used()).toBe(100);
  });

  test("counters expire an hour after their window", async () => {
    await caller(100)();
    expect(await table.all()).toEqual([
      {
        pk: "RATE",
        sk: `WINDOW#${Math.floor(start / 60_000)}`,
        used: 10,
        expiresAt: Date.parse("2026-11-21T13:01:00Z") / 1_000,
      },
    ]);
  });

  test("a failure of the table is thrown to who asked, and the next to ask is served", async () => {
    const permit = caller(100);
    const working = system.fail("dynamodb:UpdateItem");
    await expect(permit()).rejects.toThrow("injected by the test");
    working();
    await expect(permit()).resolves.toBeUndefined();
  });
});
