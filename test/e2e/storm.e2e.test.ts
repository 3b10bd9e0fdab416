import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadSettings } from "../../lib/settings/settings.ts";
import {
  accountsNeeded,
  announceData,
  countTasks,
  dealTasks,
  mostInAnyMinute,
} from "../../proof/outage/count.ts";
import { waitUntilIdle } from "../support/eventually.ts";
import { type RunningProduct, startProduct } from "../support/running-product.ts";

/** Calls per minute. Tasks over it wait for about a minute, so only more of them strain it. */
const requestsPerMinute = 60;
const tasks = 56;
const callsPerStorm = 5;

/** A minute of the rate cannot be shortened, so the test takes longer. */
describe("a storm of 429s", () => {
  const { provider, fetch } = loadSettings("local", join(import.meta.dirname, "../../stages"));
  let product: RunningProduct;
  beforeAll(async () => {
    const changes = {
      provider: { ...provider, requestsPerMinute },
      // Shorter waits would all be equal and return the tasks together.
      fetch: { ...fetch, retry: { baseSeconds: 1, maxSeconds: 60 } },
    };
    product = await startProduct("local", changes, { retryAfter: "alternating" });
  });
  afterAll(() => product?.[Symbol.asyncDispose]());

  it("never exceeds the configured calls in any minute, and every task is done", async () => {
    const { system } = product;
    const { sandbox } = system;
    const storm = () => sandbox.fault({ status: 429, retryAfterSeconds: 1, times: callsPerStorm });
    const refused = () => sandbox.calls().filter(({ status }) => status === 429).length;
    // Not announced, so that it causes no other calls.
    const { accounts } = await sandbox.createUsers(1, { accountsPerUser: accountsNeeded(tasks), drop: true });
    const fetched = dealTasks(accounts, tasks);

    storm();
    await announceData(sandbox, fetched);
    while (sandbox.calls().length < tasks / 2) await wait(100);
    storm();
    await waitUntilIdle(system);

    const counted = await countTasks(system, fetched);
    expect(counted).toEqual({ tasks, done: tasks, deadLetters: 0, lost: 0, faults: [] });
    expect(refused()).toBe(2 * callsPerStorm);
    const maxCallsPerMinute = mostInAnyMinute(sandbox.calls().map(({ at }) => at.getTime()));
    expect(sandbox.calls().length).toBeGreaterThan(requestsPerMinute);
    expect(maxCallsPerMinute).toBeLessThanOrEqual(requestsPerMinute);
    // Limited by the setting rather than by slowness.
    expect(maxCallsPerMinute).toBeGreaterThan(requestsPerMinute / 2);
  });
});
