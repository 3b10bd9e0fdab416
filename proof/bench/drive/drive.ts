import { setTimeout as sleep } from "node:timers/promises";
import { queueDepth } from "@income-events/local-stack/sources/drained.ts";
import type { LocalFunction } from "@income-events/local-stack/stack.ts";
import type { WebhookKind } from "../../../domain/event/events.ts";
import { pascalCase } from "../../../lib/names.ts";
import { httpEvent } from "../../support/invocations.ts";
import { byParts, type Part } from "../implementations.ts";
import type { Webhook } from "../workload.ts";
import { relayChanges } from "./changes.ts";
import { addRequests, drainBatch, type QueueRequests } from "./queues.ts";
import { type RunningImplementation, webhookSecret } from "./running-implementation.ts";

export type Spent = { invocations: number; cpuMicros: number; maxResidentBytes: number };

export type DriveOptions = {
  /** Webhooks to deliver before the queues and the stream are drained. */
  readonly atOnce?: number;
  readonly onProgress?: (deliveries: number) => void;
};

const usualAtOnce = 140;
const pollMs = 100;
const hiddenSeconds = 1;
/**
 * Milliseconds between the start of a fetch and the webhook that announces its data. Exceeds the clock
 * tolerance of the check of a start, which counts data as an answer only if it was read later.
 */
const answerMs = 3_100;

/**
 * Processes deliveries with all functions of an implementation until no work is left, one function at a time
 * so that each implementation gets the same batches.
 * @throws if a function fails or refuses a webhook
 */
export async function drive(
  running: RunningImplementation,
  webhooks: readonly Webhook[],
  { atOnce = usualAtOnce, onProgress = () => undefined }: DriveOptions = {},
) {
  const driver = new Driver(running, [...new Set(webhooks.map(({ kind }) => kind))]);
  let startedAt = Number.NEGATIVE_INFINITY;
  for (let start = 0; start < webhooks.length; start += atOnce) {
    const some = webhooks.slice(start, start + atOnce);
    const isAnswer = ({ kind }: Webhook) => kind === "endpoints";
    const [answers, others] = [some.filter(isAnswer), some.filter((each) => !isAnswer(each))];
    await driver.deliver(others);
    await driver.drain();
    if (others.length > 0) startedAt = performance.now();
    // Only our implementation checks whether a start was answered.
    const isChecked = running.implementation === "ours" && answers.length > 0;
    if (isChecked) await sleep(Math.max(0, startedAt + answerMs - performance.now()));
    await driver.deliver(answers);
    await driver.drain();
    onProgress(start + some.length);
  }
  await driver.drainHidden();
  return { spent: driver.spent, sourceRequests: driver.sourceRequests };
}

/** Event of a webhook from API Gateway. */
export function webhookEvent(kind: WebhookKind, body: string): object {
  const headers = {
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    host: "bench.execute-api.eu-central-1.amazonaws.com",
    "user-agent": "income-data/1.0",
    "x-forwarded-for": "203.0.113.7",
    "x-forwarded-port": "443",
    "x-forwarded-proto": "https",
    "x-webhook-secret": webhookSecret,
  };
  return httpEvent({ path: `/webhooks/${kind}`, headers, body });
}

class Driver {
  readonly spent = byParts((): Spent => ({ invocations: 0, cpuMicros: 0, maxResidentBytes: 0 }));
  /** Requests of the event sources to receive and delete messages, without those to an empty queue. */
  sourceRequests: QueueRequests = { all: 0, fifo: 0 };
  readonly #running: RunningImplementation;
  readonly #stores: readonly (readonly [string, LocalFunction])[];

  constructor(running: RunningImplementation, kinds: readonly WebhookKind[]) {
    this.#running = running;
    this.#stores = kinds.map((kind) => [
      running.stack.outputs[`${pascalCase(kind)}QueueUrl`] ?? "",
      running.function(`${pascalCase(kind)}StoreFunction`),
    ]);
  }

  async deliver(webhooks: readonly Webhook[]): Promise<void> {
    for (const { kind, body } of webhooks) {
      const target = this.#running.function(`${pascalCase(kind)}ReceiveFunction`);
      const answer = await this.#invoke("receive", target, webhookEvent(kind, body));
      const status = Number(Object(answer).statusCode ?? 500);
      if (status > 299) throw new Error(`${this.#running.implementation}: a webhook was answered ${status}`);
    }
  }

  /** Runs the functions until all queues and the stream are empty. */
  async drain(fetchQueues: readonly string[] = this.#fetchQueues().slice(0, 1)): Promise<void> {
    for (let isBusy = true; isBusy; ) {
      isBusy = false;
      for (const [queueUrl, target] of this.#stores)
        isBusy = (await this.#drainQueue("store", target, queueUrl)) || isBusy;
      const records = await this.#running.changes();
      await relayChanges(records, (event) =>
        this.#invoke("relay", this.#running.function("RelayChanges"), event),
      );
      isBusy ||= records.length > 0;
      for (const queueUrl of fetchQueues)
        isBusy = (await this.#drainQueue("fetch", this.#running.function("FetchData"), queueUrl)) || isBusy;
    }
  }

  /** Also drains hidden messages: failed ones, tasks that wait for the rate, checks of starts. */
  async drainHidden(): Promise<void> {
    const queues = [...this.#stores.map(([queueUrl]) => queueUrl), ...this.#fetchQueues()];
    for (;;) {
      const counts = await Promise.all(queues.map((queueUrl) => queueDepth(this.#running.sqs, queueUrl)));
      if (counts.every((count) => count === 0)) return;
      await sleep(pollMs);
      await this.drain(this.#fetchQueues());
    }
  }

  async #drainQueue(part: "store" | "fetch", target: LocalFunction, queueUrl: string): Promise<boolean> {
    const hidesItself = this.#running.implementation === "ours" && part === "fetch";
    const work = (event: object) => this.#invoke(part, target, event);
    for (let isBusy = false; ; isBusy = true) {
      const hidden = hidesItself ? undefined : hiddenSeconds;
      const requests = await drainBatch(this.#running.sqs, queueUrl, work, hidden);
      if (requests === 0) return isBusy;
      this.sourceRequests = addRequests(this.sourceRequests, queueUrl, requests);
    }
  }

  async #invoke(part: Part, target: LocalFunction, event: object): Promise<unknown> {
    const outcome = await target.invoke(JSON.stringify(event));
    if (outcome.kind !== "returned" || outcome.usage === undefined) {
      const { implementation } = this.#running;
      throw new Error(`${implementation}: ${target.logicalId} failed: ${JSON.stringify(outcome)}`);
    }
    const spent = this.spent[part];
    spent.invocations += 1;
    spent.cpuMicros += outcome.usage.cpuMicros;
    spent.maxResidentBytes = Math.max(spent.maxResidentBytes, outcome.usage.maxResidentBytes);
    return JSON.parse(outcome.payload);
  }

  /** The queue of tasks, and the queue of checks, which only our implementation has. */
  #fetchQueues(): readonly string[] {
    const { FetchQueueUrl = "", ChecksQueueUrl = "" } = this.#running.stack.outputs;
    return this.#running.implementation === "ours" ? [FetchQueueUrl, ChecksQueueUrl] : [FetchQueueUrl];
  }
}
