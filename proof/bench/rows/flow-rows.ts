import { setTimeout as sleep } from "node:timers/promises";
import { DeleteMessageBatchCommand, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import { z } from "zod";
import { identify } from "../../../domain/event/envelope.ts";
import {
  type RunningImplementation,
  startImplementation,
  webhookSecret,
} from "../drive/running-implementation.ts";
import { startEndpoints } from "../peers/job.ts";
import type { FaultAt } from "../provider.ts";
import { type Webhook, workload } from "../workload.ts";
import { type Context, median, quantile, type Row, rowOf } from "./row.ts";

const drained = { deadline: 180_000 };
/** Distinct events of a round. */
const events = 1_000;
const rateRounds = 7;
const latencyRounds = 3;

/**
 * Measures the path from the webhooks' API to the subscriber's queue, with event sources as synthesized: the
 * highest rate, and the latency at half of it.
 */
export async function flowRows({ onProgress }: Context): Promise<readonly Row[]> {
  const options = { hasEventSources: true, processes: 2, keepsMuch: true };
  await using ours = await startImplementation("ours", options);
  await using theirs = await startImplementation("powertools", options);
  let seed = 0;
  const load = () => {
    seed += 1;
    return workload({ seed, events, duplicates: 0 });
  };
  const perSecond = async (running: RunningImplementation) => {
    const { seconds } = await flowThrough(running, load(), asFastAsPossible);
    await running.stack.drained(drained);
    return events / seconds;
  };
  // These warm up the processes.
  await perSecond(ours);
  await perSecond(theirs);
  const rates: { ours: number[]; theirs: number[] } = { ours: [], theirs: [] };
  for (let round = 1; round <= rateRounds; round += 1) {
    rates.ours.push(await perSecond(ours));
    rates.theirs.push(await perSecond(theirs));
    onProgress(`highest rate, round ${round} of ${rateRounds}`);
  }
  const half = median(rates.ours) / 2;
  const tails: number[] = [];
  for (let round = 1; round <= latencyRounds; round += 1) {
    const { latencies } = await flowThrough(ours, load(), evenly(half));
    await ours.stack.drained(drained);
    const [p50, p99] = [quantile(latencies, 0.5), quantile(latencies, 0.99)];
    onProgress(`latency at ${half.toFixed(0)} a second: p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`);
    tails.push(p99 / p50);
  }
  return [
    rowOf("rate", "events a second, webhook to subscriber", rates.ours, [
      { over: "powertools", goal: "≥ 1.3", values: rates.theirs },
    ]),
    rowOf("latency", "p99 over p50, webhook to subscriber, at half of the highest rate", tails, [
      { goal: "≤ 3" },
    ]),
  ];
}

/** Seconds in which events come one by one. */
const aloneSeconds = 20;

/** Median latency of events that come alone, one a second, to both implementations at the same times. */
export async function aloneRows({ onProgress }: Context): Promise<readonly Row[]> {
  await using ours = await startImplementation("ours", { hasEventSources: true });
  await using theirs = await startImplementation("plain", { hasEventSources: true });
  const flows = await Promise.all(
    [ours, theirs].map(async (running) => {
      await flowThrough(running, workload({ seed: 1, events: 10, duplicates: 0 }), asFastAsPossible);
      await running.stack.drained(drained);
      const load = workload({ seed: 2, events: aloneSeconds, duplicates: 0 });
      return flowThrough(running, load, evenly(1), documentIn);
    }),
  );
  onProgress("latency at one event a second");
  const row = (name: string, until: string, latencies: "latencies" | "ofDocuments") => {
    const [mine = Number.NaN, peers = Number.NaN] = flows.map((flow) => median(flow[latencies]));
    const figure = `ms, median from webhook to ${until}, one event a second`;
    return rowOf(name, figure, [mine], [{ over: "plain", goal: "≤ 1.1", values: [peers] }]);
  };
  return [
    row("latency-subscriber", "message", "latencies"),
    row("latency-document", "the message about its document", "ofDocuments"),
  ];
}

/** The provider first asks to slow down and later is down, by milliseconds since the first call. */
const schedule: FaultAt = (millis) => {
  if (millis >= 1_000 && millis < 5_000) return { status: 429, headers: { "retry-after": "2" } };
  if (millis >= 8_000 && millis < 18_000) return { status: 503 };
  return undefined;
};

/**
 * Calls to the provider over the minimum: one for each connected account and endpoint with data, and one to
 * detect each fault.
 */
export async function providerCallsRows({ onProgress }: Context): Promise<readonly Row[]> {
  const options = { hasEventSources: true, processes: 2, faultAt: schedule };
  await using ours = await startImplementation("ours", options);
  const load = workload({ seed: 77, events, duplicates: 0 });
  const least = load.filter(({ body }) => /connect_account|update_endpoint/.test(body)).length + 2;
  await flowThrough(ours, load, asFastAsPossible);
  await ours.stack.drained(drained);
  const calls = ours.provider.calls();
  onProgress(`${calls} calls to the provider, ${least} at least`);
  const figure = "calls over the least possible, with 429s and an outage";
  return [rowOf("provider-calls", figure, [calls / least], [{ goal: "≤ 1.1" }])];
}

/** Earliest start of a delivery by its number, in milliseconds after the first. */
type Pace = (index: number) => number;
const asFastAsPossible: Pace = () => 0;
const evenly =
  (perSecond: number): Pace =>
  (index) =>
    (index / perSecond) * 1000;

const sendersAtOnce = 16;
/** Limit of the wait for a message, since a lost one would never arrive. */
const longestSilenceMs = 60_000;

/**
 * Sends deliveries to a running implementation and reads its subscriber's queue until every event has
 * arrived.
 * @param documentsOf the documents of a webhook whose messages must arrive, too
 * @returns duration of the whole flow in seconds, and latencies in milliseconds from webhook to message: that of
 * each event, and those of the documents that only events announce
 * @throws if one is lost
 */
async function flowThrough(
  running: RunningImplementation,
  load: readonly Webhook[],
  pace: Pace,
  documentsOf: (body: string) => readonly string[] = () => [],
) {
  const sentAt = new Map<string, number>();
  const namesOf = ({ kind, body }: Webhook) => [identify(kind, Buffer.from(body)), ...documentsOf(body)];
  const waiting = new Set(load.flatMap(namesOf));
  const began = performance.now();
  const queue = load.entries();
  const sender = async () => {
    for (const [index, webhook] of queue) {
      await sleep(Math.max(0, began + pace(index) - performance.now()));
      for (const name of namesOf(webhook)) sentAt.set(name, performance.now());
      await post(running, webhook);
    }
  };
  const senders = Array.from({ length: sendersAtOnce }, sender);
  const [arrivedAt] = await Promise.all([readUntilEmpty(running, waiting), ...senders]);
  const latenciesOf = (areDocuments: boolean) =>
    [...arrivedAt]
      .filter(([name]) => name.startsWith("account/") === areDocuments)
      .map(([name, at]) => at - (sentAt.get(name) ?? Number.NaN));
  const seconds = (Math.max(...arrivedAt.values()) - began) / 1000;
  return { seconds, latencies: latenciesOf(false), ofDocuments: latenciesOf(true) };
}

const announcement = z.object({ account_id: z.string(), endpoint: z.string() });

/** The subject of the document that a webhook announces, unless a start reads it as well. */
function documentIn(body: string): readonly string[] {
  const { success, data } = announcement.safeParse(JSON.parse(body));
  return success && !startEndpoints.includes(data.endpoint)
    ? [`account/${data.account_id}/${data.endpoint}`]
    : [];
}

async function post(
  { stack, implementation }: RunningImplementation,
  { kind, body }: Webhook,
): Promise<void> {
  const headers = { "content-type": "application/json", "x-webhook-secret": webhookSecret };
  const answer = await fetch(`${outputOf(stack, "WebhooksUrl")}/${kind}`, { method: "POST", headers, body });
  await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`${implementation}: a webhook was answered ${answer.status}`);
}

const message = z.object({ id: z.string(), type: z.string(), subject: z.string() });

async function readUntilEmpty(
  { sqs, stack, implementation }: RunningImplementation,
  waiting: Set<string>,
): Promise<ReadonlyMap<string, number>> {
  const QueueUrl = outputOf(stack, "SubscriberReaderQueueUrl");
  const arrivedAt = new Map<string, number>();
  let last = performance.now();
  while (waiting.size > 0) {
    const receive = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 });
    const { Messages = [] } = await sqs.send(receive);
    const now = performance.now();
    if (Messages.length > 0) last = now;
    if (now - last > longestSilenceMs)
      throw new Error(`${implementation}: ${waiting.size} events never arrived`);
    for (const { Body = "" } of Messages) {
      const { id, type, subject } = message.parse(JSON.parse(Body));
      const name = type === "data.updated" ? subject : id;
      if (waiting.delete(name)) arrivedAt.set(name, now);
    }
    if (Messages.length === 0) continue;
    const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
    await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
  }
  return arrivedAt;
}
