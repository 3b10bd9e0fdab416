import { setTimeout as sleep } from "node:timers/promises";
import { DeleteMessageBatchCommand, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import { drive } from "../bench/drive/drive.ts";
import { type RunningImplementation, webhookSecret } from "../bench/drive/running-implementation.ts";
import type { Batch, Delivery } from "./expected.ts";
import { type Observer, type Outcome, observerOf } from "./observer.ts";

/** Takes a batch through the pipeline to its end. */
export type Driver = (running: RunningImplementation, batch: Batch) => Promise<Outcome>;

/** Through the functions: whoever drives hands them batch after batch, as their event sources would. */
export const throughFunctions: Driver = async (running, batch) => {
  const observer = observerOf(batch);
  const changes = async () => {
    const records = await running.changes();
    observer.see(records);
    return records;
  };
  await drive({ ...running, changes }, batch.deliveries, { overlaps: true });
  while ((await takeMessages(running, observer)) > 0);
  return observer.outcome();
};

const sendersAtOnce = 8;
const pollMs = 50;
/** What comes to nobody's ears for so long is lost. */
const longestSilenceMs = 300_000;

/** End to end: from the webhooks' API to the subscriber's queue, with the event sources between. */
export const endToEnd: Driver = async (running, batch) => {
  const observer = observerOf(batch);
  const queue = batch.deliveries.values();
  const sender = async () => {
    for (const delivery of queue) await post(running, delivery);
  };
  const sending = Promise.all(Array.from({ length: sendersAtOnce }, sender));
  // It is waited for below; until then a refusal is nobody's.
  sending.catch(() => undefined);
  let [missing, last] = [Number.POSITIVE_INFINITY, performance.now()];
  while (missing > 0 && performance.now() - last < longestSilenceMs) {
    observer.see(await running.changes());
    const taken = await takeMessages(running, observer);
    const left = observer.missing();
    if (left < missing || taken > 0) last = performance.now();
    missing = left;
    if (taken === 0) await sleep(pollMs);
  }
  await sending;
  await running.stack.drained({ deadline: longestSilenceMs });
  observer.see(await running.changes());
  while ((await takeMessages(running, observer)) > 0);
  return observer.outcome();
};

/** As the provider does: until it is accepted. */
async function post({ stack }: RunningImplementation, { kind, body }: Delivery): Promise<void> {
  const headers = { "content-type": "application/json", "x-webhook-secret": webhookSecret };
  const url = `${outputOf(stack, "WebhooksUrl")}/${kind}`;
  for (;;) {
    const status = await statusOf(fetch(url, { method: "POST", headers, body }));
    if (status >= 200 && status < 300) return;
    if (status >= 400 && status < 500 && status !== 429) throw new Error(`a webhook was answered ${status}`);
    await sleep(pollMs);
  }
}

/** @returns 0 where the connection broke: whether the webhook was received is then unknown, and it is sent again */
async function statusOf(answering: Promise<Response>): Promise<number> {
  try {
    const answer = await answering;
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return 0;
  }
}

/** Takes some of what lies on the subscriber's queue. @returns how many messages it took */
async function takeMessages({ sqs, stack }: RunningImplementation, { receive }: Observer): Promise<number> {
  const QueueUrl = outputOf(stack, "SubscriberReaderQueueUrl");
  const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }));
  for (const { Body = "" } of Messages) receive(Body);
  if (Messages.length === 0) return 0;
  const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
  await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
  return Messages.length;
}
