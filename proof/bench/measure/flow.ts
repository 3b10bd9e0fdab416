import { setTimeout as sleep } from "node:timers/promises";
import { DeleteMessageBatchCommand, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import { z } from "zod";
import { identify } from "../../../domain/event/identify.ts";
import { type RunningImplementation, webhookSecret } from "../drive/running-implementation.ts";
import type { Webhook } from "../workload.ts";

/** When each event was sent to the webhooks' API and when its message was read from the subscriber's queue, in ms. */
export type Flow = { readonly seconds: number; readonly latencies: readonly number[] };

/** When the delivery of a number may begin, in ms after the first. */
export type Pace = (index: number) => number;
export const asFastAsPossible: Pace = () => 0;
export const evenly =
  (perSecond: number): Pace =>
  (index) =>
    (index / perSecond) * 1000;

const sendersAtOnce = 16;
/** A pipeline that loses a message would be waited for without end. */
const longestSilenceMs = 60_000;

/** Sends deliveries to a running side and reads its subscriber's queue until each event is there. @throws where one is lost */
export async function flowThrough(
  running: RunningImplementation,
  load: readonly Webhook[],
  pace: Pace,
): Promise<Flow> {
  const sentAt = new Map<string, number>();
  const waiting = new Set(load.map(({ kind, body }) => identify(kind, Buffer.from(body))));
  const began = performance.now();
  const reading = readUntilEmpty(running, waiting);
  const queue = load.entries();
  const sender = async () => {
    for (const [index, webhook] of queue) {
      await sleep(Math.max(0, began + pace(index) - performance.now()));
      sentAt.set(identify(webhook.kind, Buffer.from(webhook.body)), performance.now());
      await post(running, webhook);
    }
  };
  await Promise.all(Array.from({ length: sendersAtOnce }, sender));
  const arrivedAt = await reading;
  const latencies = [...arrivedAt].map(([id, at]) => at - (sentAt.get(id) ?? Number.NaN));
  return { seconds: (Math.max(...arrivedAt.values()) - began) / 1000, latencies };
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

const message = z.object({ id: z.string() });

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
      const { id } = message.parse(JSON.parse(Body));
      if (waiting.delete(id)) arrivedAt.set(id, now);
    }
    if (Messages.length === 0) continue;
    const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
    await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
  }
  return arrivedAt;
}
