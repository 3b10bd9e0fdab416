import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadSettings } from "../../lib/settings.ts";
import { type Outage, runOutage } from "../../local/outage/run.ts";
import { type RunningProduct, startProduct } from "../support/running-product.ts";

/** A day in 24 seconds. The whole, `npm run outage`, is the same with 10,000 tasks and a day in five minutes. */
const divideDurationsBy = 3_600;

describe("an outage of the provider", () => {
  const settings = loadSettings("compressed", join(import.meta.dirname, "../../stages"));
  let product: RunningProduct;
  beforeAll(async () => {
    product = await startProduct("compressed", { divideDurationsBy });
  });
  afterAll(() => product[Symbol.asyncDispose]());

  const limitPerMinute = settings.provider.requestsPerMinute;
  const suffer = (outage: Pick<Outage, "hours" | "tasks" | "fault">) =>
    runOutage(product.system, { ...outage, divideDurationsBy, limitPerMinute }, () => undefined);

  /** What the breaker allows: tries at the shortest wait that its longest one is drawn from, and those before it opens. */
  const mostCalls = (hours: number) => {
    const longestWaitInSeconds = settings.provider.breaker.maxSeconds * settings.divideDurationsBy;
    return (hours * 3_600) / (longestWaitInSeconds / 2) + 60;
  };

  it.each([
    { hours: 1, tasks: 40, fault: { status: 503 } },
    { hours: 1, tasks: 40, fault: { effect: "hang" } },
    { hours: 24, tasks: 100, fault: { status: 503 } },
  ] as const)(
    "of $hours h with $fault loses none of $tasks tasks, dead-letters none, and leaves the provider alone",
    async (outage) => {
      const result = await suffer(outage);

      const { tasks } = outage;
      expect(result).toMatchObject({ tasks, done: tasks, deadLetters: 0, lost: 0, faults: [] });
      expect(result.maxCallsPerMinute).toBeLessThanOrEqual(limitPerMinute);
      expect(result.callsDuringOutage).toBeGreaterThan(0);
      expect(result.callsDuringOutage).toBeLessThan(mostCalls(outage.hours));
    },
    120_000,
  );
});
