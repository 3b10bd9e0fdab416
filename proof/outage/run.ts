import { setTimeout as wait } from "node:timers/promises";
import { SQSClient } from "@aws-sdk/client-sqs";
import { deadLetterQueuesOf, outputOf } from "@income-events/local-stack/outputs.ts";
import { watchForProblems } from "@income-events/local-stack/problems.ts";
import { queueDepth } from "@income-events/local-stack/sources/drained.ts";
import type { Progress, System } from "@income-events/local-stack/system.ts";
import { waitUntilIdle } from "@income-events/local-stack/wait-until-idle.ts";
import type { Fault } from "@income-events/sandbox/api/faults.ts";
import {
  announceData,
  connectAccounts,
  countCalls,
  countTasks,
  dealTasks,
  type Fetched,
  type OutageResult,
} from "./count.ts";

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

type Run = { readonly system: System; readonly outage: Outage; readonly progress: Progress };

const pollEveryMs = 250;
const reportEveryMs = 5_000;
/** Milliseconds for everything but the outage and the rate limit: starting, storing, counting. */
const patienceMs = 1_800_000;

/**
 * Takes the provider down while it announces new data, waits until the pipeline has caught up, and counts:
 * calls in the sandbox's log, documents in the table, dead letters in the queues.
 * @throws as soon as a permission is denied or an import fails: neither recovers by itself
 */
export async function runOutage(system: System, outage: Outage, progress: Progress): Promise<OutageResult> {
  // Longer than all waits of the run together, each of which has its own limit.
  const watch = watchForProblems(system.stack, 3 * patienceOf(outage));
  try {
    return await watch.during(play({ system, outage, progress }));
  } finally {
    watch.stop();
  }
}

async function play(run: Run): Promise<OutageResult> {
  const { system, outage, progress } = run;
  const { sandbox } = system;
  const accounts = await connect(run);

  const begun = Date.now();
  const fetched = dealTasks(accounts, outage.tasks);
  progress(`The provider is down for ${outage.hours} h, and announces ${outage.tasks} documents`);
  sandbox.fault({ ...outage.fault, share: 1 });
  await runFaultPhases(run, fetched, begun);
  sandbox.clearFaults();
  const ended = Date.now();

  await catchUp(run);
  const catchUpSeconds = Math.round((Date.now() - ended) / 100) / 10;
  progress("Counting in the table, in the queues and in the provider's log");
  return {
    ...(await countTasks(system, fetched)),
    ...countCalls(sandbox.calls(), begun, ended),
    limitPerMinute: outage.limitPerMinute,
    lasted: ((ended - begun) * outage.divideDurationsBy) / 3_600_000,
    catchUpSeconds,
  };
}

async function connect({ system, outage, progress }: Run): Promise<readonly string[]> {
  const { sandbox } = system;
  progress("Connecting accounts, while the provider is up");
  using _lines = reportProgress(
    progress,
    () => `Connecting accounts: ${sandbox.calls().length} calls so far`,
  );
  const accounts = await connectAccounts(sandbox, outage.tasks);
  await waitUntilIdle(system, patienceOf(outage));
  return accounts;
}

/** Runs the outage until its time is over and every task waits: later tasks would not experience it. */
async function runFaultPhases(
  { system, outage, progress }: Run,
  fetched: readonly Fetched[],
  begun: number,
): Promise<void> {
  const { sandbox } = system;
  const { tasks, hours, divideDurationsBy } = outage;
  const soFar = () =>
    `${(((Date.now() - begun) * divideDurationsBy) / 3_600_000).toFixed(1)} h of ${hours} h`;
  using depths = queueDepths(system);
  using _lines = reportProgress(progress, async () => {
    const waiting = await depths.waiting();
    return `Outage ${soFar()}: ${waiting} tasks wait, ${sandbox.calls().length} calls so far`;
  });
  await announceData(sandbox, fetched);
  await sandbox.waitUntilIdle();
  // Visible and invisible messages are counted one after the other, so the last may be missed.
  while ((await depths.waiting()) + (await depths.deadLetters()) < tasks) await wait(pollEveryMs);
  progress(`Outage ${soFar()}: all of ${tasks} tasks wait`);
  await wait(Math.max(0, begun + millisecondsOf(outage) - Date.now()));
}

/** Waits until every queue is empty or the time is over; unfinished work is counted. */
async function catchUp({ system, outage, progress }: Run): Promise<void> {
  progress("The provider is up: waiting until every queue is empty and the stream is read");
  using depths = queueDepths(system);
  using _lines = reportProgress(progress, async () => {
    const waiting = await depths.waiting();
    return `Catching up: ${waiting} tasks wait, ${system.sandbox.calls().length} calls so far`;
  });
  await waitUntilIdle(system, patienceOf(outage)).catch((error: unknown) => progress(String(error)));
}

function millisecondsOf({ hours, divideDurationsBy }: Outage): number {
  return (hours * 3_600_000) / divideDurationsBy;
}

function patienceOf(outage: Outage): number {
  return patienceMs + millisecondsOf(outage) + (2 * outage.tasks * 60_000) / outage.limitPerMinute;
}

/** Reports progress every few seconds until disposed. */
function reportProgress(progress: Progress, line: () => string | Promise<string>): Disposable {
  const report = async () => progress(await line());
  // Skips a line that fails: the work itself reports its error.
  const timer = setInterval(() => void report().catch(() => undefined), reportEveryMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Tasks in the fetch queue, and messages in all dead-letter queues. */
function queueDepths({ stack, access }: System) {
  const sqs = new SQSClient(access);
  const fetchQueue = outputOf(stack, "FetchQueueUrl");
  return {
    waiting: () => queueDepth(sqs, fetchQueue),
    deadLetters: async () => {
      const depths = await Promise.all(deadLetterQueuesOf(stack).map(({ url }) => queueDepth(sqs, url)));
      return depths.reduce((sum, depth) => sum + depth, 0);
    },
    [Symbol.dispose]: () => sqs.destroy(),
  };
}
