import { setTimeout as sleep } from "node:timers/promises";
import type { LocalFunction } from "@income-events/local-stack/stack.ts";
import type { WebhookKind } from "../../../domain/event/events.ts";
import { pascalCase } from "../../../lib/names.ts";
import type { Part } from "../implementations.ts";
import type { Webhook } from "../workload.ts";
import { isFifo } from "./count-requests.ts";
import { depthOf, drainBatch, type Hidden } from "./drain-queue.ts";
import { httpEvent } from "./invocations.ts";
import { createInvoker, type Invoker, type SpentByPart } from "./invoke.ts";
import { relayChanges } from "./relay-changes.ts";
import { type RunningImplementation, webhookSecret } from "./running-implementation.ts";
import { pollMs, type Step, workOff, workSideBySide } from "./work-off.ts";

export type { SpentByPart };

export type DriveOptions = {
  /** What a function fails is tried again, as the provider and the event sources would; else a failure ends the run. */
  readonly expectsFailures?: boolean;
  /** Works off each delivery before the next, so that no two are in a batch. */
  readonly isAlone?: boolean;
  /** Lets functions work side by side, each one batch at a time: quicker, where the load is long. */
  readonly overlaps?: boolean;
  /** Is given how many deliveries are worked off. */
  readonly onProgress?: (deliveries: number) => void;
};

const maxDeliveries = 50;
/** So many webhooks come before what they leave on queues and stream is worked off. */
const deliveriesAtOnce = { alone: 1, oneByOne: 140, overlapping: 1_400 };
/**
 * A provider announces data some time after a fetch of it was started. The check of a start takes for an answer what was
 * read later than clocks of services, which say seconds, may be apart.
 */
const answerMs = 3_100;

/**
 * Takes deliveries through all functions of an implementation until nothing is left to do: one function after the
 * other, every implementation the same batches. Where they overlap, it is chance what a batch holds.
 */
export async function drive(
  running: RunningImplementation,
  webhooks: readonly Webhook[],
  {
    expectsFailures = false,
    isAlone = false,
    overlaps = false,
    onProgress = () => undefined,
  }: DriveOptions = {},
): Promise<SpentByPart> {
  const invoker = createInvoker(running.implementation, expectsFailures);
  const kinds = [...new Set(webhooks.map(({ kind }) => kind))];
  const steps = stepsOf(running, kinds, invoker, { expectsFailures, isLast: overlaps });
  const atOnce = deliveriesAtOnce[overlaps ? "overlapping" : isAlone ? "alone" : "oneByOne"];
  let startedAt = Number.NEGATIVE_INFINITY;
  for (let start = 0; start < webhooks.length; start += atOnce) {
    const some = webhooks.slice(start, start + atOnce);
    if (overlaps) {
      const lanes = kinds.map((kind) => some.filter((each) => each.kind === kind));
      const deliveries = lanes.map((lane) => deliverAll(running, lane, invoker, expectsFailures));
      await workSideBySide(Promise.all(deliveries), steps);
    } else {
      const isAnswer = ({ kind }: Webhook) => kind === "endpoints";
      const [answers, others] = [some.filter(isAnswer), some.filter((each) => !isAnswer(each))];
      await deliverAll(running, others, invoker, expectsFailures);
      await workOff(steps);
      if (others.length > 0) startedAt = performance.now();
      // Nobody else looks whether a start was answered.
      const isChecked = running.implementation === "ours" && answers.length > 0;
      if (isChecked) await sleep(Math.max(0, startedAt + answerMs - performance.now()));
      await deliverAll(running, answers, invoker, expectsFailures);
      await workOff(steps);
    }
    onProgress(start + some.length);
  }
  // What failed, a call that waits for the rate, and the check of a start are hidden for a while.
  const queues = [...kinds.map((kind) => queueUrlOf(running, kind)), ...fetchQueuesOf(running)];
  const all = stepsOf(running, kinds, invoker, { expectsFailures, isLast: true });
  while (await isAnyLeft(running, queues)) {
    await sleep(pollMs);
    await workOff(all);
  }
  return invoker.spent();
}

/**
 * Stores, relay and fetch of an implementation.
 * @param isLast whether starts are checked, too: in AWS that is long after they were answered
 */
function stepsOf(
  running: RunningImplementation,
  kinds: readonly WebhookKind[],
  invoker: Invoker,
  { expectsFailures, isLast }: { readonly expectsFailures: boolean; readonly isLast: boolean },
): readonly Step[] {
  const work = (part: Part, target: LocalFunction) => (event: object) => invoker.invoke(part, target, event);
  const drain = async (part: "store" | "fetch", name: string, queueUrl: string) => {
    const target = running.function(name);
    const hidden = hiddenFor(running, part, expectsFailures);
    for (let isBusy = false; ; isBusy = true) {
      const requests = await drainBatch(running, queueUrl, work(part, target), hidden);
      if (requests === 0) return isBusy;
      invoker.countRequests(part, { all: requests, fifo: isFifo(queueUrl) ? requests : 0 });
    }
  };
  const store = (kind: WebhookKind) => () =>
    drain("store", `${pascalCase(kind)}StoreFunction`, queueUrlOf(running, kind));
  const relay = async () => {
    const records = await running.changes();
    await relayChanges(records, work("relay", running.function("RelayChanges")));
    return records.length > 0;
  };
  const fetches = fetchQueuesOf(running)
    .slice(0, isLast ? undefined : 1)
    .map((queueUrl) => () => drain("fetch", "FetchData", queueUrl));
  return [...kinds.map(store), relay, ...fetches];
}

/**
 * After a fault for as long as an invocation may take, where AWS asks for six times that: no lock of a killed one is
 * left then. Our fetch hides by itself what it reports, unless that fails too.
 */
function hiddenFor(
  { implementation, timeoutSeconds }: RunningImplementation,
  part: Part,
  expectsFailures: boolean,
): Hidden {
  const seconds = expectsFailures ? timeoutSeconds[part] : 1;
  const hidesItself = implementation === "ours" && part === "fetch" && !expectsFailures;
  return { afterReport: hidesItself ? undefined : seconds, afterFailure: seconds };
}

async function deliverAll(
  running: RunningImplementation,
  webhooks: readonly Webhook[],
  invoker: Invoker,
  expectsFailures: boolean,
): Promise<void> {
  for (const webhook of webhooks) await deliver(running, webhook, invoker, expectsFailures);
}

/** As the provider does: again, until it is taken. */
async function deliver(
  running: RunningImplementation,
  { kind, body }: Webhook,
  { invoke }: Invoker,
  expectsFailures: boolean,
): Promise<void> {
  const target = running.function(`${pascalCase(kind)}ReceiveFunction`);
  for (let tries = 1; ; tries += 1) {
    const answer = await invoke("receive", target, httpEvent(kind, body, webhookSecret));
    const status = Number(Object(answer).statusCode ?? 500);
    if (status >= 200 && status <= 299) return;
    if (!expectsFailures || tries === maxDeliveries) {
      throw new Error(`${running.implementation}: a webhook was answered ${status}`);
    }
  }
}

function queueUrlOf({ stack }: RunningImplementation, kind: WebhookKind): string {
  return stack.outputs[`${pascalCase(kind)}QueueUrl`] ?? "";
}

/** That of tasks, and that of checks, which only ours makes. */
function fetchQueuesOf({ implementation, stack }: RunningImplementation): readonly string[] {
  const { FetchQueueUrl = "", ChecksQueueUrl = "" } = stack.outputs;
  return implementation === "ours" ? [FetchQueueUrl, ChecksQueueUrl] : [FetchQueueUrl];
}

async function isAnyLeft(running: RunningImplementation, queueUrls: readonly string[]): Promise<boolean> {
  const counts = await Promise.all(queueUrls.map((queueUrl) => depthOf(running, queueUrl)));
  return counts.some((count) => count > 0);
}
