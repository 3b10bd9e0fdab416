import { CreateQueueCommand, ReceiveMessageCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import type { AlarmState } from "@income-events/local-stack/alarms/alarms.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stackAlarms } from "../../../adapters/aws/stack-alarms.ts";
import { queueMetrics } from "../../../adapters/sqs/queue-metrics.ts";
import { queueStatuses } from "../../../packages/cli/status/work-queues.ts";
import {
  clients,
  type LocalSystem,
  monitored,
  startLocalSystem,
} from "../../packages/local-stack/gateway/local-system.ts";

const hour = 3_600_000;
const since = Date.parse("2026-11-21T12:00:00Z");
const alarm = (name: string, state: "OK" | "ALARM" = "OK"): AlarmState => ({
  logicalId: name,
  name,
  description: `What ${name} means. See docs/operate/runbook.md#what-it-means. Wait.`,
  actions: ["arn:aws:sns:eu-central-1:000000000000:on-call"],
  taken: "alone",
  periodSeconds: 900,
  evaluationPeriods: 2,
  state,
  since,
});

let system: LocalSystem;
const alarms: AlarmState[] = [];
beforeAll(async () => {
  system = await startLocalSystem({ engines: { alarms: () => monitored(alarms) } });
});
afterAll(() => system.close());

async function emptyQueue(name: string): Promise<string> {
  const { sqs } = clients(system, system.operator);
  const { QueueUrl = "" } = await sqs.send(new CreateQueueCommand({ QueueName: name }));
  return QueueUrl;
}

/** A new queue with a message in it. */
async function usedQueue(name: string): Promise<string> {
  const { sqs } = clients(system, system.operator);
  const QueueUrl = await emptyQueue(name);
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "one" }));
  return QueueUrl;
}

/** The metrics this many hours later. */
function metricsIn(hours: number) {
  const { cloudwatch } = clients(system, system.operator);
  return queueMetrics(cloudwatch, () => new Date(Date.now() + hours * hour));
}

describe("when something was last sent", () => {
  test("is exact to the minute, then to the hour, and unknown after two weeks", async () => {
    const url = await usedQueue("sent");
    const sentAt = Date.now();
    const lastSent = async (hours: number) => (await metricsIn(hours).lastSent([url])).get(url)?.getTime();
    const unitOf = (time = Number.NaN) => [60_000, hour].find((unit) => sentAt - time <= unit);
    expect(unitOf(await lastSent(0.05))).toBe(60_000);
    const before = await lastSent(24);
    expect((before ?? 1) % hour).toBe(0);
    expect(unitOf(before)).toBeDefined();
    expect(await lastSent(15 * 24)).toBeUndefined();
  });

  test("is reported for each queue by itself, however many there are", async () => {
    const url = await usedQueue("among");
    const urls = [...Array.from({ length: 700 }, (_, index) => `${url}-${index}`), url];
    expect([...(await metricsIn(0.05).lastSent(urls)).keys()]).toEqual([url]);
  });
});

test("the last receive call of a queue is known for two weeks, even if it was empty", async () => {
  const url = await usedQueue("asked");
  const empty = await emptyQueue("asked-in-vain");
  const unread = await usedQueue("unread");
  const { sqs } = clients(system, system.operator);
  for (const QueueUrl of [url, empty]) await sqs.send(new ReceiveMessageCommand({ QueueUrl }));
  const all = [url, empty, unread];
  expect([...(await metricsIn(0.05).lastAsked(all)).keys()].toSorted()).toEqual([url, empty].toSorted());
  expect([...(await metricsIn(15 * 24).lastAsked(all)).keys()]).toEqual([]);
});

test("a subscriber's queue with messages and without receive calls was never read", async () => {
  const { sqs, cloudwatch } = clients(system, system.operator);
  const [own, unread, read, empty] = [
    await usedQueue("own"),
    await usedQueue("never-read"),
    await usedQueue("was-read"),
    await emptyQueue("never-sent"),
  ];
  await sqs.send(new ReceiveMessageCommand({ QueueUrl: read }));
  await sqs.send(new SendMessageCommand({ QueueUrl: read, MessageBody: "two" }));
  const queueOf = (queueUrl: string) => ({ name: "users", queueUrl, deadLetterQueueUrl: empty });
  const queues = [...[unread, read, empty].map(queueOf), { ...queueOf(own), isOwn: true as const }];
  const statuses = await queueStatuses(queues, { sqs, cloudWatch: cloudwatch }, () => new Date());
  expect(statuses.map(({ neverRead }) => neverRead)).toEqual([true, undefined, undefined, undefined]);
  expect(statuses.map(({ lastPolledAt }) => lastPolledAt !== undefined)).toEqual([false, true, false, false]);
});

test("the alarms of a stack are its own only, with description, state and the time of the last change", async () => {
  const names = [
    "stage-prod-TokenRefused1A2B-9XYZ",
    "stage-prod-eu-TokenRefused1A2B-9XYZ",
    "stage-prod2-A-B",
    "other",
  ];
  // Of an alarm on an expression each metric has a period of its own.
  const local = { ...alarm("stage-prod-Local", "ALARM"), taken: "as sum" as const };
  alarms.splice(0, alarms.length, ...names.map((name) => alarm(name)), local);
  const { cloudwatch } = clients(system, system.operator);
  const shown = (name: string, isOn: boolean) => ({
    ...{ name, isOn, isTold: true, since: new Date(since), lookBackSeconds: 1_800 },
    description: `What ${name} means. See docs/operate/runbook.md#what-it-means. Wait.`,
    entry: "what-it-means",
  });
  expect(await stackAlarms(cloudwatch, "stage-prod-")).toEqual([
    shown("stage-prod-TokenRefused1A2B-9XYZ", false),
    shown("stage-prod-Local", true),
  ]);
});
