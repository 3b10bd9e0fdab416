import { beforeEach, expect, test } from "vitest";
import { callCounters, callsInLastMinute, RateLimiter } from "../../../adapters/provider/rate-limiter.ts";
import { windowsOf } from "../../../domain/fetch/call-limits.ts";
import { describeOnEachTable } from "../../support/engines.ts";
import { systemWithTable } from "../../support/system-with-table.ts";

const noon = Date.parse("2026-11-21T12:00:00Z");

await describeOnEachTable("the call window", (tables) => {
  const made = systemWithTable(tables);
  let time: number;
  beforeEach(async () => {
    made.table = await made.system.createTable();
    time = noon;
  });

  const caller = (requestsPerMinute: number) => {
    const limiter = environment(requestsPerMinute);
    return () => limiter.permit();
  };
  const counters = () => callCounters(made.system.dynamodb, made.table.name);
  const environment = (requestsPerMinute: number) =>
    new RateLimiter(counters(), requestsPerMinute, { now: () => new Date(time), elapsed: () => time });
  /** Leased calls of all windows. */
  const used = async () => {
    const windows = (await made.table.all()).filter(({ sk }) => String(sk).startsWith("WINDOW#"));
    return windows.reduce((sum, item) => sum + Number(item.used), 0);
  };
  const updates = () => made.system.calls().get("test dynamodb:UpdateItem") ?? 0;

  /** Number of granted permits when each caller requests several at once. */
  async function given(callers: readonly (() => Promise<unknown>)[], timesEach: number): Promise<number> {
    const asked = callers.flatMap((permit) => Array.from({ length: timesEach }, () => permit()));
    const outcomes = await Promise.allSettled(asked);
    for (const outcome of outcomes) {
      if (outcome.status === "fulfilled") continue;
      expect(outcome.reason).toMatchObject({
        failure: { type: "retryable", reason: "the provider's rate is used up", waitsFor: "permit" },
      });
    }
    return outcomes.filter(({ status }) => status === "fulfilled").length;
  }

  test.each([3, 5, 100, 1_000, 60_000])(
    "with a rate of %i a minute gives a window's calls to one caller",
    async (rate) => {
      const { callsPerWindow } = windowsOf(rate);
      expect(await given([caller(rate)], callsPerWindow + 30)).toBe(callsPerWindow);
      expect(await used()).toBe(callsPerWindow);
    },
  );

  test("many callers together make exactly the calls of the window", async () => {
    const callers = Array.from({ length: 12 }, () => caller(1_000));
    expect(await given(callers, 7)).toBe(windowsOf(1_000).callsPerWindow);
    expect(await given(callers, 7)).toBe(0);
    expect(await used()).toBe(windowsOf(1_000).callsPerWindow);
  });

  test("sequential callers share a batch too, until it is used up", async () => {
    const { promise: gathered, resolve: lease } = Promise.withResolvers<void>();
    const before = updates();
    const limiter = new RateLimiter(counters(), 1_000, {
      now: () => new Date(time),
      gathered: () => gathered,
    });
    const permit = () => limiter.permit();
    const first = permit();
    await used();
    const second = permit();
    await used();
    expect(updates() - before).toBe(0);
    lease();
    await Promise.all([first, second]);
    expect(updates() - before).toBe(1);
    expect(await used()).toBe(2);
  });

  test("a batch that is too large gets the rest of the window", async () => {
    const permit = caller(1_000);
    const { callsPerWindow } = windowsOf(1_000);
    expect(await given([permit], callsPerWindow - 4)).toBe(callsPerWindow - 4);
    expect(await given([permit], 10)).toBe(4);
  });

  test("a refused caller waits for the next window, plus a random time of up to a minute", async () => {
    const permit = caller(5);
    await permit();
    time += 4_500;
    await expect(permit()).rejects.toMatchObject({ failure: { delayInSeconds: 15.5, spreadInSeconds: 60 } });
    time = noon + 20_000;
    await expect(permit()).resolves.toBeUndefined();
  });

  test("a refused caller is refused again without a request until the next window", async () => {
    const limiter = environment(5);
    const permit = () => limiter.permit();
    const gate = () => limiter.gate();
    await permit();
    expect(gate).not.toThrow();
    await expect(permit()).rejects.toThrow();
    const before = updates();
    expect(gate).toThrow("the provider's rate is used up");
    expect(updates()).toBe(before);
    time = noon + 20_000;
    expect(gate).not.toThrow();
  });

  test("a caller that is late for one window gets a permit of the next at once, and counts in it", async () => {
    const working = made.system.intercept(async ({ action }, phase) => {
      if (action === "dynamodb:UpdateItem" && phase === "after") {
        time += 20_000;
        working();
      }
      return undefined;
    });
    await expect(caller(5)()).resolves.toBeUndefined();
    expect(time).toBe(noon + 20_000);
    expect((await made.table.item("PROVIDER", `WINDOW#${time}`))?.used).toBe(1);
  });

  test("counters expire an hour after their window begins", async () => {
    await caller(5)();
    expect(await made.table.all()).toEqual([
      { pk: "PROVIDER", sk: `WINDOW#${noon}`, schemaVersion: 1, used: 1, expiresAt: noon / 1_000 + 3_600 },
    ]);
  });

  test("a failure of the table is thrown to its caller, and the next caller succeeds", async () => {
    const permit = caller(100);
    const working = made.system.fail("dynamodb:UpdateItem");
    await expect(permit()).rejects.toThrow("injected by the test");
    working();
    await expect(permit()).resolves.toBeUndefined();
  });

  /** Permits for calls that an environment makes one after the other; each ends at once. */
  async function makeAlone(limiter: RateLimiter, calls: number): Promise<number> {
    let reserved = 0;
    for (let call = 0; call < calls; call += 1) {
      const ended = await limiter.permit(time);
      ended?.();
      if (ended !== undefined) reserved += 1;
    }
    return reserved;
  }
  const reserved = async (period = noon) => (await made.table.item("PROVIDER", `RESERVED#${period}`))?.used;

  test("calls that come alone cost a write only until the environment has reserved enough", async () => {
    const limiter = environment(1_000);
    const before = updates();
    expect(await makeAlone(limiter, 8)).toBe(8);
    expect(updates() - before).toBe(3);
    for (let minute = 0; minute < 19; minute += 1) {
      time += 60_000;
      expect(await makeAlone(limiter, 8)).toBe(8);
    }
    expect(updates() - before).toBe(3);
    expect(await reserved()).toBe(8);
    time += 60_000;
    expect(await makeAlone(limiter, 1)).toBe(1);
    expect(await reserved(time)).toBe(2);
  });

  test("all environments reserve a twentieth of the rate together, and others take leases", async () => {
    const [first, second] = [environment(40), environment(40)];
    expect(await makeAlone(first, 2)).toBe(2);
    const before = updates();
    expect(await makeAlone(second, 1)).toBe(0);
    expect(updates() - before).toBe(2);
    time += 2_000;
    expect(await makeAlone(second, 1)).toBe(0);
    expect(updates() - before).toBe(3);
    expect(await reserved()).toBe(2);
    expect(await callsInLastMinute(made.system.dynamodb, made.table.name, new Date(time))).toBe(4);
  });

  test.each([
    ["a rate below 40 calls a minute", 39, noon],
    ["a call whose caller read no time of the table", 1_000, 0],
  ])("nothing is reserved for %s", async (_, rate, serviceTime) => {
    expect(await environment(rate).permit(serviceTime)).toBeUndefined();
    expect(await reserved()).toBeUndefined();
  });

  test("of a batch, the calls beyond those reserved take one lease", async () => {
    const limiter = environment(1_000);
    await makeAlone(limiter, 2);
    time += 60_000;
    const before = updates();
    const permits = await Promise.all(Array.from({ length: 5 }, () => limiter.permit(time)));
    expect(permits.filter((ended) => ended !== undefined)).toHaveLength(2);
    expect(updates() - before).toBe(1);
    expect(await used()).toBe(3);
  });

  test("a reservation whose answer is lost counts, and is not used", async () => {
    const limiter = environment(80);
    const lost = made.system.intercept(async ({ action }, phase) =>
      action === "dynamodb:UpdateItem" && phase === "after"
        ? { status: 400, errorType: "ValidationException", message: "lost" }
        : undefined,
    );
    await expect(limiter.permit(time)).rejects.toThrow("lost");
    lost();
    expect(await reserved()).toBe(2);
    expect(await makeAlone(limiter, 3)).toBe(2);
    expect(await reserved()).toBe(4);
  });

  test("a gate lets a reserved call pass when the window is used up", async () => {
    const limiter = environment(40);
    const gate = () => limiter.gate();
    const ended = await limiter.permit(time);
    await given([() => limiter.permit()], 40);
    expect(gate).not.toThrow();
    await limiter.permit(time);
    expect(gate).toThrow("the provider's rate is used up");
    ended?.();
    time += 60_000;
    expect(gate).not.toThrow();
  });
});
