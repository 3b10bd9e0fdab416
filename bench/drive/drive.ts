import { setTimeout as sleep } from "node:timers/promises";
import type { Kind } from "../../domain/events.ts";
import { pascalCase } from "../../lib/names.ts";
import type { LocalFunction } from "../../local/stack.ts";
import type { Part } from "../sides.ts";
import type { Webhook } from "../workload.ts";
import { depthOf, drainBatch, type Hidden } from "./drain-queue.ts";
import { httpEvent } from "./invocations.ts";
import { createInvoker, type Invoker, type SpentByPart } from "./invoke.ts";
import { relayChanges } from "./relay-changes.ts";
import { type RunningSide, webhookSecret } from "./running-side.ts";

export type { SpentByPart };

export type DriveOptions = {
  /** What a function fails is tried again, as the provider and the event sources would; else a failure ends the run. */
  readonly expectsFailures?: boolean;
  /** Lets the next deliveries come while those before are worked off: quicker, where the load is long. */
  readonly overlaps?: boolean;
  /** Is told how many deliveries are worked off. */
  readonly onProgress?: (deliveries: number) => void;
};

const pollMs = 100;
const mostDeliveries = 50;
/** So many webhooks come before what they leave on queues and stream is worked off. */
const deliveriesAtOnce = 140;

/**
 * Takes deliveries through all functions of a side until nothing is left to do: each function one batch at a time, every
 * side the same batches.
 */
export async function drive(
  running: RunningSide,
  webhooks: readonly Webhook[],
  { expectsFailures = false, overlaps = false, onProgress = () => undefined }: DriveOptions = {},
): Promise<SpentByPart> {
  const invoker = createInvoker(running.side, expectsFailures);
  const kinds = [...new Set(webhooks.map(({ kind }) => kind))];
  for (let start = 0; start < webhooks.length; start += deliveriesAtOnce) {
    const some = webhooks.slice(start, start + deliveriesAtOnce);
    await Promise.all([
      overlaps ? workOff(running, kinds, invoker, expectsFailures) : undefined,
      deliverAll(running, some, invoker, expectsFailures),
    ]);
    if (!overlaps) await workOff(running, kinds, invoker, expectsFailures);
    onProgress(start + some.length);
  }
  await workOff(running, kinds, invoker, expectsFailures);
  // What failed, a call that waits for the rate, and the check of a start are hidden for a while.
  const queues = [...kinds.map((kind) => queueUrlOf(running, kind)), fetchQueueOf(running)];
  while (await isAnyLeft(running, queues)) {
    await sleep(pollMs);
    await workOff(running, kinds, invoker, expectsFailures);
  }
  return invoker.spent();
}

/** Lets the functions work until queues and stream show nothing more. */
async function workOff(
  running: RunningSide,
  kinds: readonly Kind[],
  invoker: Invoker,
  expectsFailures: boolean,
): Promise<void> {
  const work = (part: Part, target: LocalFunction) => (event: object) => invoker.invoke(part, target, event);
  const drain = async (part: "store" | "fetch", name: string, queueUrl: string) => {
    const target = running.function(name);
    const hidden = hiddenFor(running, part, expectsFailures);
    for (let isBusy = false; ; isBusy = true) {
      const requests = await drainBatch(running, queueUrl, work(part, target), hidden);
      if (requests === 0) return isBusy;
      invoker.countRequests(part, requests);
    }
  };
  for (let isBusy = true; isBusy; ) {
    isBusy = false;
    for (const kind of kinds) {
      isBusy =
        (await drain("store", `${pascalCase(kind)}StoreFunction`, queueUrlOf(running, kind))) || isBusy;
    }
    const records = await running.changes();
    await relayChanges(records, work("relay", running.function("RelayChanges")));
    isBusy = (await drain("fetch", "FetchData", fetchQueueOf(running))) || records.length > 0 || isBusy;
  }
}

/**
 * After a fault for as long as an invocation may take, where AWS asks for six times that: no lock of a killed one is left
 * then. Our fetch hides by itself what it reports, unless that fails too.
 */
function hiddenFor({ side, timeoutSeconds }: RunningSide, part: Part, expectsFailures: boolean): Hidden {
  const seconds = expectsFailures ? timeoutSeconds[part] : 1;
  const hidesItself = side === "ours" && part === "fetch" && !expectsFailures;
  return { afterReport: hidesItself ? undefined : seconds, afterFailure: seconds };
}

async function deliverAll(
  running: RunningSide,
  webhooks: readonly Webhook[],
  invoker: Invoker,
  expectsFailures: boolean,
): Promise<void> {
  for (const webhook of webhooks) await deliver(running, webhook, invoker, expectsFailures);
}

/** As the provider does: again, until it is taken. */
async function deliver(
  running: RunningSide,
  { kind, body }: Webhook,
  { invoke }: Invoker,
  expectsFailures: boolean,
): Promise<void> {
  const target = running.function(`${pascalCase(kind)}ReceiveFunction`);
  for (let tries = 1; ; tries += 1) {
    const answer = await invoke("receive", target, httpEvent(kind, body, webhookSecret));
    const status = Number(Object(answer).statusCode ?? 500);
    if (status >= 200 && status <= 299) return;
    if (!expectsFailures || tries === mostDeliveries) {
      throw new Error(`${running.side}: a webhook was answered ${status}`);
    }
  }
}

function queueUrlOf({ stack }: RunningSide, kind: Kind): string {
  return stack.outputs[`${pascalCase(kind)}QueueUrl`] ?? "";
}

function fetchQueueOf({ stack }: RunningSide): string {
  return stack.outputs.FetchQueueUrl ?? "";
}

async function isAnyLeft(running: RunningSide, queueUrls: readonly string[]): Promise<boolean> {
  const counts = await Promise.all(queueUrls.map((queueUrl) => depthOf(running, queueUrl)));
  return counts.some((count) => count > 0);
}
