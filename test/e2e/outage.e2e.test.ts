import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadSettings } from "../../lib/settings/settings.ts";
import { announceData, countTasks, dealTasks } from "../../proof/outage/count.ts";
import { type Outage, runOutage } from "../../proof/outage/run.ts";
import { waitUntilIdle } from "../support/eventually.ts";
import { type RunningProduct, startProduct } from "../support/running-product.ts";
import { shareOfTier } from "../support/share-of-tier.ts";

const outages = shareOfTier<Pick<Outage, "hours" | "tasks" | "fault">>(
  [{ hours: 1, tasks: 40, fault: { status: 503 } }],
  [
    { hours: 1, tasks: 40, fault: { effect: "hang" } },
    { hours: 24, tasks: 100, fault: { status: 503 } },
  ],
);

/** A day in 24 seconds. `npm run outage` does the same with 10,000 tasks and a day in five minutes. */
const divideDurationsBy = 3_600;

describe("a bad day of the provider", () => {
  const settings = loadSettings("compressed", join(import.meta.dirname, "../../stages"));
  let product: RunningProduct;
  beforeAll(async () => {
    const deduplicationSeconds = 300 / divideDurationsBy;
    const delivery = { firstRetryMs: 200 };
    product = await startProduct("compressed", { divideDurationsBy }, { delivery }, { deduplicationSeconds });
  });
  afterAll(() => product?.[Symbol.asyncDispose]());

  const limitPerMinute = settings.provider.requestsPerMinute;
  const play = (outage: Pick<Outage, "hours" | "tasks" | "fault">) =>
    runOutage(product.system, { ...outage, divideDurationsBy, limitPerMinute }, () => undefined);

  /**
   * Upper bound of calls with the breaker: probes at the shortest jittered wait, plus the calls before it
   * opens.
   */
  const mostCalls = (hours: number) => {
    const longestWaitInSeconds = settings.provider.breaker.maxSeconds * settings.divideDurationsBy;
    return (hours * 3_600) / (longestWaitInSeconds / 2) + 60;
  };

  it.each(outages)(
    "an outage of $hours h with $fault loses and rejects none of $tasks tasks, and spares the provider",
    async (outage) => {
      const result = await play(outage);

      const { tasks } = outage;
      expect(result).toMatchObject({ tasks, done: tasks, deadLetters: 0, lost: 0, faults: [] });
      expect(result.maxCallsPerMinute).toBeLessThanOrEqual(limitPerMinute);
      expect(result.callsDuringOutage).toBeGreaterThan(0);
      expect(result.callsDuringOutage).toBeLessThan(mostCalls(Math.max(outage.hours, result.lasted)));
    },
  );

  it("a token that ends in the middle of a batch costs no task", async () => {
    const { system } = product;
    const { sandbox, stack } = system;
    const calls = (status: number) => sandbox.calls().filter((call) => call.status === status).length;
    const before = { good: calls(200), refused: calls(401) };
    const { accounts } = await sandbox.createUsers(1, { accountsPerUser: 8, drop: true });
    const fetched = dealTasks(accounts, 100);

    await announceData(sandbox, fetched);
    while (calls(200) < before.good + 10) await wait(5);
    sandbox.endTokens("revoked");
    const token = await sandbox.issueToken();
    await stack.setSecret(outputOf(stack, "TokenSecretArn"), JSON.stringify({ token }));
    await waitUntilIdle(system);

    expect(await countTasks(system, fetched)).toMatchObject({ done: 100, deadLetters: 0, lost: 0 });
    expect(calls(401)).toBeGreaterThan(before.refused);
  });
});
