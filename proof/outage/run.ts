import { setTimeout as wait } from "node:timers/promises";
import { SQSClient } from "@aws-sdk/client-sqs";
import { deadLetterQueuesOf, outputOf } from "@income-events/local-stack/outputs.ts";
import { watchForProblems } from "@income-events/local-stack/problems.ts";
import { queueDepth } from "@income-events/local-stack/sources/drained.ts";
import type { Progress, System } from "@income-events/local-stack/system.ts";
import { waitUntilIdle } from "@income-events/local-stack/wait-until-idle.ts";
import type { Fault } from "@income-events/sandbox/api/faults.ts";
import { announceData, connectAccounts, countTasks, dealTasks, mostInAnyMinute } from "./count.ts";

export type Outage = {
  /** Documents to read while the provider is down. */
  readonly tasks: number;
  /** Duration of the outage, in hours of the stage. */
  readonly hours: number;
  /** Fault of every call during the outage. */
  readonly fault: Pick<Fault, "status" | "effect">;
  /** From the stage's settings. */
  readonly divideDurationsBy: number;
  readonly limitPerMinute: number;
};

const pollEveryMs = 250;
const reportEveryMs = 5_000;
/** Milliseconds for everything but the outage and the rate limit: starting, storing, counting. */
const patienceMs = 1_800_000;

export type OutageResult = Awaited<ReturnType<typeof runOutage>>;

/**
 * Takes the provider down while it announces new data, waits until the pipeline has caught up, and counts:
 * calls in the sandbox's log, documents in the table, dead letters in the queues.
 * @throws as soon as a permission is denied or an import fails: neither recovers by itself
 */
export async function runOutage(system: System, outage: Outage, progress: Progress) {
  const outageMs = (outage.hours * 3_600_000) / outage.divideDurationsBy;
  const patience = patienceMs + outageMs + (2 * outage.tasks * 60_000) / outage.limitPerMinute;
  // Longer than all waits of the run together, each of which has its own limit.
  const watch = watchForProblems(system.stack, 3 * patience);
  try {
    return await watch.during(play(system, outage, progress, { outageMs, patience }));
  } finally {
    watch.stop();
  }
}

async function play(
  system: System,
  { tasks, hours, fault, divideDurationsBy, limitPerMinute }: Outage,
  progress: Progress,
  { outageMs, patience }: { readonly outageMs: number; readonly patience: number },
) {
  const { sandbox, stack, access } = system;
  await using cleanup = new AsyncDisposableStack();
  const sqs = cleanup.adopt(new SQSClient(access), (client) => client.destroy());
  const waiting = () => queueDepth(sqs, outputOf(stack, "FetchQueueUrl"));
  const deadLetters = async () => {
    const depths = await Promise.all(deadLetterQueuesOf(stack).map(({ url }) => queueDepth(sqs, url)));
    return depths.reduce((sum, depth) => sum + depth, 0);
  };
  let step = () => "Connecting accounts";
  // Skips a line that fails: the work itself reports its error.
  const report = async () =>
    progress(`${step()}: ${await waiting()} tasks wait, ${sandbox.calls().length} calls so far`);
  const timer = setInterval(() => void report().catch(() => undefined), reportEveryMs);
  cleanup.defer(() => clearInterval(timer));

  progress("Connecting accounts, while the provider is up");
  const accounts = await connectAccounts(sandbox, tasks);
  await waitUntilIdle(system, patience);

  const begun = Date.now();
  const fetched = dealTasks(accounts, tasks);
  progress(`The provider is down for ${hours} h, and announces ${tasks} documents`);
  const hoursSoFar = () => ((Date.now() - begun) * divideDurationsBy) / 3_600_000;
  step = () => `Outage ${hoursSoFar().toFixed(1)} h of ${hours} h`;
  sandbox.fault({ ...fault, share: 1 });
  await announceData(sandbox, fetched);
  await sandbox.waitUntilIdle();
  // Later tasks would not experience the outage. Visible and invisible messages are counted one after the
  // other, so the last may be missed.
  while ((await waiting()) + (await deadLetters()) < tasks) await wait(pollEveryMs);
  progress(`${step()}: all of ${tasks} tasks wait`);
  await wait(Math.max(0, begun + outageMs - Date.now()));
  sandbox.clearFaults();
  const ended = Date.now();
  /** Duration of the outage in hours of the stage: at least until all tasks waited. */
  const lasted = hoursSoFar();

  progress("The provider is up: waiting until every queue is empty and the stream is read");
  step = () => "Catching up";
  // Unfinished work is counted.
  await waitUntilIdle(system, patience).catch((error: unknown) => progress(String(error)));
  /** Real seconds from the end of the outage until nothing waits. */
  const catchUpSeconds = Math.round((Date.now() - ended) / 100) / 10;
  progress("Counting in the table, in the queues and in the provider's log");
  const times = sandbox.calls().map(({ at }) => at.getTime());
  return {
    ...(await countTasks(system, fetched)),
    callsDuringOutage: times.filter((time) => time >= begun && time < ended).length,
    /** Maximum in any minute of the whole run. */
    maxCallsPerMinute: mostInAnyMinute(times),
    limitPerMinute,
    lasted,
    catchUpSeconds,
  };
}
