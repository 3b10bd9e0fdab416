import { createMetric, stateBy, valuesOf } from "@income-events/local-stack/alarms/evaluate.ts";
import type { AlarmPlan } from "@income-events/local-stack/assembly/plan.ts";
import { describe, expect, it } from "vitest";
import { readAlarm } from "../../../scripts/documents/alarms-page.ts";
import { nameOf, productionSettings, synthesized } from "../synthesized.ts";

const production = synthesized(productionSettings);
const alarms = production
  .ofType("AWS::CloudWatch::Alarm")
  .map(({ id, Properties }) => readAlarm(id, Properties));
const visibilityOf = (queue: string): number =>
  Number(
    production.ofType("AWS::SQS::Queue").find(({ id }) => nameOf(id) === queue)?.Properties.VisibilityTimeout,
  );
const hour = 3_600;

/** Failing messages among those that arrive at a steady rate; all others succeed at once. */
const causes = {
  "every message fails, as after a revoked grant or a throw at import": () => true,
  "one message is poison": (index: number) => index === 0,
};
const rates = { "one an hour": hour, "50 a second": 0.02 };
const step = 10;

type Message = { readonly sent: number; readonly count: number; receives: number; visibleAt: number };

/**
 * Simulates a standard queue whose pollers keep up, for some hours of its production settings. A failed
 * message reappears after the visibility timeout, and counts for the queue's age until it was received three
 * times.
 */
function failingQueue(visibility: number, every: number, fails: (index: number) => boolean, until: number) {
  const [age, failed] = [createMetric(until * 1_000), createMetric(until * 1_000)];
  let waiting: Message[] = [];
  let arrived = 0;
  for (let now = 0; now < until; now += step) {
    const count = Math.floor(now / every) + 1 - arrived;
    const failing = Array.from({ length: count }, (_, index) => arrived + index).filter(fails).length;
    arrived += count;
    if (failing > 0) waiting.push({ sent: now, count: failing, receives: 0, visibleAt: now });
    for (const message of waiting.filter(({ visibleAt }) => visibleAt <= now)) {
      message.receives += 1;
      message.visibleAt = now + visibility;
      failed.add(message.count, now * 1_000);
    }
    const counted = waiting.filter(({ receives }) => receives < 3).map(({ sent }) => now - sent);
    if (counted.length > 0) age.add(Math.max(...counted), now * 1_000);
    waiting = waiting.filter(({ sent }) => now - sent < 12 * hour);
  }
  return { age, failed };
}

/** Whether an alarm of the production stage fires by the given values of its metrics, by name. */
function goesOff(
  entry: string,
  metricOf: (name: string) => ReturnType<typeof createMetric>,
  until: number,
): boolean {
  const found = alarms.find((alarm) => alarm.entry === entry);
  if (found === undefined) throw new Error(`There is no alarm ${entry}`);
  const statistic = ["most", "greatest"].includes(found.value) ? "Maximum" : "Sum";
  const plan: AlarmPlan = {
    ...found,
    name: entry,
    metrics: found.metrics.map((name) => ({ namespace: "", name, dimensions: {}, statistic })),
    taken: found.value === "first without second" ? found.value : "alone",
    breaches: "above",
    missing: "notBreaching",
    actions: [],
    okActions: [],
  };
  return Array.from({ length: until / 60 }, (_, minute) => minute * 60_000).some(
    (now) =>
      stateBy(
        plan,
        valuesOf(plan, ({ name }) => metricOf(name), { begin: 0, now }),
        "OK",
      ) === "ALARM",
  );
}

describe.each([
  ["events", visibilityOf("UsersWorkQueue"), hour / 2],
  ["erasure", visibilityOf("ErasureWorkQueue"), 2 * hour],
])("work of %s that fails", (work, visibility, within) => {
  const cases = Object.entries(causes).flatMap(([cause, fails]) =>
    Object.entries(rates).map(([rate, every]) => [cause, rate, every, fails] as const),
  );

  it.each(cases)(
    "raises its alarm if %s, at %s, although the queue's age does not show it",
    (_, __, every, fails) => {
      const { age, failed } = failingQueue(visibility, every, fails, within);
      expect(goesOff(`${work}-failing`, () => failed, within)).toBe(true);
      expect(goesOff(`${work}-late`, () => age, within)).toBe(false);
    },
  );

  it("raises no alarm if all messages of a minute fail once", () => {
    const failed = createMetric(within * 1_000);
    failed.add(3_000, 60_000);
    expect(goesOff(`${work}-failing`, () => failed, within)).toBe(false);
  });
});

it.each([
  ["raises the alarm in two of three periods", [1, 11], true],
  ["raises no alarm in one minute", [1, 1], false],
  ["raises no alarm in two periods that are far apart", [1, 31], false],
])("a shard of the relay whose batches fail %s", (_, minutes, isRaised) => {
  const failed = createMetric(hour * 1_000);
  for (const minute of minutes) failed.add(100, minute * 60_000);
  expect(goesOff("relay-failing", () => failed, hour)).toBe(isRaised);
});

it.each<readonly [string, stored: readonly number[], relayed: readonly number[], isRaised: boolean]>([
  ["raises the alarm if an event is stored every 15 minutes", [1, 16, 31, 46], [], true],
  ["raises no alarm if nothing is stored", [], [], false],
  ["raises no alarm if events are relayed", [1, 16, 31, 46], [1, 16, 31, 46], false],
  ["raises no alarm for an event that is relayed in the next period", [5], [6], false],
])("a relay to which no change is passed %s", (_, storedAt, relayedAt, isRaised) => {
  const [stored, relayed] = [createMetric(hour * 1_000), createMetric(hour * 1_000)];
  for (const minute of storedAt) stored.add(1, minute * 60_000);
  for (const minute of relayedAt) relayed.add(1, minute * 60_000);
  const metricOf = (name: string) => (name === "EventsStored" ? stored : relayed);
  expect(goesOff("relay-stopped", metricOf, hour)).toBe(isRaised);
});
