import type { Alarms } from "@income-events/local-stack/alarms/alarms.ts";
import { expect, onTestFinished, test } from "vitest";
import { receivingCounts } from "../../../adapters/aws/receiving-counts.ts";
import { clients, monitored, startLocalSystem } from "../../packages/local-stack/gateway/local-system.ts";

const minute = 60;
const now = new Date("2026-11-26T12:00:30.000Z");
const start = now.getTime() / 1000 - 30;
const settings = { atMostEveryMinutes: 15, gapMinutes: 10, minuteInMillis: 60_000 };
const metrics = {
  namespace: "stage",
  throttled: "WebhookThrottled",
  notKept: "WebhookNotKept",
  apiId: "api",
  canaries: 0,
};

/** Counts by metric and minutes before noon. */
async function countsOf(counted: Readonly<Record<string, Readonly<Record<number, number>>>>, canaries = 0) {
  const asked: string[] = [];
  const sums: Alarms["sums"] = ({ namespace, name, dimensions }, { from, to, period }) => {
    asked.push(`${namespace} ${name} ${Object.values(dimensions).join()} ${period}`);
    const found = Object.entries(counted[name] ?? {}).map(
      ([before, count]) => [start - Number(before) * minute, count] as const,
    );
    return new Map(found.filter(([at]) => at >= from && at < to));
  };
  const system = await startLocalSystem({ engines: { alarms: () => monitored([], { sums }) } });
  onTestFinished(() => system.close());
  const { cloudwatch } = clients(system, system.operator);
  const { unanswered, accepted } = await receivingCounts(cloudwatch, { ...metrics, canaries }, settings, now);
  const byMinute = (sums: ReadonlyMap<number, number>) =>
    Object.fromEntries([...sums].map(([at, count]) => [(start - at / 1000) / minute, count]));
  return { asked, unanswered: byMinute(unanswered), accepted: byMinute(accepted) };
}

test("failed and throttled webhooks are summed, except those that a retry cannot change", async () => {
  expect(
    await countsOf({
      Count: { 5: 30 },
      "5xx": { 5: 4, 4: 1 },
      WebhookThrottled: { 5: 2, 3: 7 },
      WebhookNotKept: { 4: 1 },
    }),
  ).toEqual({
    asked: [
      "AWS/ApiGateway Count api 300",
      "AWS/ApiGateway 5xx api 60",
      "stage WebhookThrottled  60",
      "AWS/ApiGateway 4xx api 300",
      "stage WebhookNotKept  60",
    ],
    unanswered: { 5: 6, 4: 0, 3: 7 },
    accepted: { 5: 30 },
  });
});

test("one metric is read while there are no requests", async () => {
  expect(await countsOf({})).toEqual({
    asked: ["AWS/ApiGateway Count api 300"],
    unanswered: {},
    accepted: {},
  });
});

test("refused webhooks do not count as received, and four metrics are read if nothing failed", async () => {
  const { asked, ...counts } = await countsOf({ Count: { 20: 9, 10: 5, 10080: 8 }, "4xx": { 10: 5 } });
  expect(asked).toHaveLength(4);
  expect(counts).toEqual({ unanswered: {}, accepted: { 20: 9, 10: 0, 10080: 8 } });
});

test("the canary's requests do not count as received", async () => {
  const { accepted } = await countsOf({ Count: { 20: 9, 15: 1, 10: 5 }, "4xx": { 10: 5 } }, 1);
  expect(accepted).toEqual({ 20: 8, 15: 0, 10: 0 });
});

test("a CloudWatch outage is retried", async () => {
  const system = await startLocalSystem();
  const { cloudwatch } = clients(system, system.caller("nobody"));
  onTestFinished(() => system.close());
  await expect(receivingCounts(cloudwatch, metrics, settings, now)).rejects.toMatchObject({
    failure: { type: "retryable", reason: expect.stringContaining("CloudWatch does not tell") },
  });
});
