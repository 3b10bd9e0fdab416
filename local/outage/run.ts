import { setTimeout as wait } from "node:timers/promises";
import { SQSClient } from "@aws-sdk/client-sqs";
import type { Fault } from "../../sandbox/api/faults.ts";
import { deadLetterQueuesOf, outputOf } from "../outputs.ts";
import { watchForProblems } from "../problems.ts";
import { settle } from "../settle.ts";
import { queueDepth } from "../sources/queue-depth.ts";
import type { Progress, System } from "../system.ts";
import { countCalls, countTasks, type OutageResult } from "./count.ts";
import { connectAccounts, dealTasks, type Fetched, tellOfData } from "./make-tasks.ts";

export type Outage = {
  /** How many data sets are to be read while the provider is down. */
  readonly tasks: number;
  /** How long it is down, in hours of the stage. */
  readonly hours: number;
  /** What every call meets meanwhile. */
  readonly fault: Pick<Fault, "status" | "effect">;
  /** Of the stage's settings. */
  readonly divideDurationsBy: number;
  readonly limitPerMinute: number;
};

const progressEveryMs = 5_000;
const pollEveryMs = 250;
/** For what is neither the outage nor the calls that the rate allows: starting, storing, counting. */
const patienceMs = 1_800_000;

/**
 * Lets the provider be down while it tells of new data, waits until all is caught up, and counts: calls in the
 * sandbox's log, data sets in the table, dead letters in the queues.
 * @throws as soon as something is refused by a permission or can't be imported: that does not mend itself
 */
export async function runOutage(system: System, outage: Outage, progress: Progress): Promise<OutageResult> {
  const patience = patienceMs + outageMs(outage) + (2 * outage.tasks * 60_000) / outage.limitPerMinute;
  const watch = watchForProblems(system.stack, patience);
  try {
    return await Promise.race([play(system, outage, patience, progress), watch.broken]);
  } finally {
    watch.stop();
  }
}

async function play(
  system: System,
  outage: Outage,
  patience: number,
  progress: Progress,
): Promise<OutageResult> {
  const { sandbox } = system;
  const { tasks, hours, limitPerMinute } = outage;
  const accounts = await connect(system, tasks, patience, progress);

  const begun = Date.now();
  const fetched = dealTasks(accounts, tasks);
  progress(`The provider is down for ${hours} h, and tells of ${tasks} data sets`);
  sandbox.fault({ ...outage.fault, share: 1 });
  await suffer(system, outage, fetched, begun, progress);
  sandbox.clearFaults();
  const ended = Date.now();

  await catchUp(system, patience, progress);
  const catchUpSeconds = Math.round((Date.now() - ended) / 100) / 10;
  progress("Counting in the table, in the queues and in the provider's log");
  return {
    ...(await countTasks(system, fetched)),
    ...countCalls(sandbox.calls(), begun, ended),
    limitPerMinute,
    catchUpSeconds,
  };
}

async function connect(
  system: System,
  tasks: number,
  patience: number,
  progress: Progress,
): Promise<readonly string[]> {
  const { sandbox } = system;
  progress("Connecting accounts, while the provider is up");
  using _progress = tellOften(
    progress,
    async () => `Connecting accounts: ${sandbox.calls().length} calls so far`,
  );
  const accounts = await connectAccounts(sandbox, tasks);
  await settle(system, patience);
  return accounts;
}

function outageMs({ hours, divideDurationsBy }: Outage): number {
  return (hours * 3_600_000) / divideDurationsBy;
}

/** Until the outage is over; not before every task waits, or it would be none for those that come late. */
async function suffer(
  system: System,
  outage: Outage,
  fetched: readonly Fetched[],
  begun: number,
  progress: Progress,
): Promise<void> {
  const { sandbox } = system;
  const hoursSoFar = () => ((Date.now() - begun) * outage.divideDurationsBy) / 3_600_000;
  await using depths = queueDepths(system);
  using _progress = tellOften(progress, async () => {
    const { length } = sandbox.calls();
    const waiting = await depths.waiting();
    return `Outage ${hoursSoFar().toFixed(1)} h of ${outage.hours} h: ${waiting} tasks wait, ${length} calls so far`;
  });
  await tellOfData(sandbox, fetched);
  await sandbox.settled();
  // A task that is sent again is counted twice for a moment, so that the last ones may still be on their way.
  while ((await depths.waiting()) + (await depths.deadLetters()) < outage.tasks) await wait(pollEveryMs);
  progress(`All of ${outage.tasks} tasks wait, after ${hoursSoFar().toFixed(1)} h`);
  await wait(Math.max(0, begun + outageMs(outage) - Date.now()));
}

/** Until no queue holds anything any more; what is not done by then is counted as it is. */
async function catchUp(system: System, patience: number, progress: Progress): Promise<void> {
  const { sandbox } = system;
  await using depths = queueDepths(system);
  using _progress = tellOften(progress, async () => {
    const { length } = sandbox.calls();
    return `Catching up: ${await depths.waiting()} tasks wait, ${length} calls so far`;
  });
  progress("The provider is up: waiting until every queue is empty and the stream is read");
  await settle(system, patience).catch((error: unknown) => progress(String(error)));
}

function queueDepths({ stack, access }: System) {
  const sqs = new SQSClient(access);
  const fetchQueue = outputOf(stack, "FetchQueueUrl");
  return {
    waiting: () => queueDepth(sqs, fetchQueue),
    deadLetters: async () => {
      const depths = await Promise.all(deadLetterQueuesOf(stack).map(({ url }) => queueDepth(sqs, url)));
      return depths.reduce((sum, depth) => sum + depth, 0);
    },
    [Symbol.asyncDispose]: async () => sqs.destroy(),
  };
}

/** Tells of long work every few seconds. */
function tellOften(progress: Progress, line: () => Promise<string>): Disposable {
  const timer = setInterval(() => {
    line().then(progress, () => undefined);
  }, progressEveryMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
