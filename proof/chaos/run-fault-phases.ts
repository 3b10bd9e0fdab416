import { setTimeout as wait } from "node:timers/promises";
import { type Crashes, choosePoints } from "./crashes/crash-points.ts";
import { shares } from "./faults/fault-classes.ts";
import type { Faults } from "./faults/fault-schedule.ts";
import { corruptResponses } from "./load/corrupt-responses.ts";
import type { Load } from "./load/keep-loading.ts";
import { operate } from "./load/operate.ts";
import type { RunOptions } from "./options.ts";
import type { ChaosSystem } from "./system.ts";

/** Crash points that are not hit by then are left for the later phases. */
const crashesEndAfterMs = 20_000;
/** Milliseconds since the last crash: an erasure reads the whole archive, and the next one waits for it. */
const lastCrashesEndAfterMs = 120_000;
const longestShareMs = { whole: 10_000, short: 5_000 };
const maxCorruptionMs = 10_000;
const shareOfRandomKills = 0.01;
const callsWithoutNews = { whole: 150, short: 30 };
/** In the short form, calls seen this often come up again soon. */
const oftenInShort = 5;
/** Time for classes that have not fired at any share: a stream is not read while a batch is retried. */
const longestUnfiredMs = 90_000;

/** Reports the current step. */
export type Progress = (step: string) => void;

/** Sources of faults and their settings. */
export type FaultContext = {
  readonly crashes: Crashes;
  readonly faults: Faults;
  readonly load: Load;
  readonly options: RunOptions;
  readonly progress: Progress;
};

/**
 * Runs all faults under load.
 * @returns the number of crash points, of those hit, and of corrupted batches by type
 */
export async function runFaultPhases(system: ChaosSystem, context: FaultContext) {
  const { crashes, faults, load, options, progress } = context;
  progress("Running without faults, to record every call of every function");
  await load.rounds(options.short ? 1 : 2);
  await seeAllCalls(system, crashes, callsWithoutNews[options.short ? "short" : "whole"]);
  const points = choosePoints(crashes.seen(options.short ? oftenInShort : 1), options);
  progress(`Killing functions at ${points.length} points, one at a time`);
  crashes.crashAt(points);
  await until(() => crashes.left().length === 0, crashesEndAfterMs * options.slow);
  if (crashes.left().length > 0) progress(`Crash points left for later: ${crashes.left().join("; ")}`);
  progress("Killing functions at random, corrupting batch answers, and replaying under load");
  crashes.crashAtRandom(shareOfRandomKills);
  const corruption = corruptResponses(system, options.seed, options.directory);
  const rounds = load.rounds(1);
  await operate(system, ["replay", "--all-subscribers", "--since", "1h", "--yes"]);
  await rounds;
  const isCorrupted = () => ![...corruption.counts().values()].includes(0);
  await until(isCorrupted, maxCorruptionMs * options.slow);
  const corrupted = corruption.counts();
  corruption.stop();
  for (const share of shares) {
    progress(`Letting ${share * 100} % of all calls fail`);
    await runFaultShare(share, context);
    crashes.crashAtRandom(0);
  }
  await fireAll(faults, longestUnfiredMs * options.slow, progress);
  faults.let(0);
  await untilNoneIsStruck(crashes, lastCrashesEndAfterMs * options.slow);
  return { points: points.length, struck: points.length - crashes.left().length, corrupted };
}

/**
 * Runs load while a share of the calls fails, with each class at this share; in the short form, each class
 * once per run.
 */
async function runFaultShare(
  share: number,
  { faults, load, options, progress }: FaultContext,
): Promise<void> {
  const { short, slow } = options;
  const longestMs = longestShareMs[short ? "short" : "whole"] * slow;
  const end = Date.now() + longestMs;
  faults.let(share, short ? faults.unfired() : undefined);
  await Promise.race([load.rounds(1), wait(longestMs)]);
  if (short) return;
  await until(() => faults.pendingFaults().length === 0, end - Date.now());
  if (faults.pendingFaults().length > 0)
    progress(`Not fired at this share: ${faults.pendingFaults().join(", ")}`);
}

/**
 * Runs until each class has fired in this run, or the time is over. Few faults let calls of every part come
 * up.
 */
async function fireAll(faults: Faults, longestMs: number, progress: Progress): Promise<void> {
  const unfired = faults.unfired();
  if (unfired.length === 0) return;
  progress(`Waiting for the faults that have not fired yet: ${unfired.join(", ")}`);
  faults.let(shares[0], unfired);
  await until(() => faults.unfired().length === 0, longestMs);
}

/** Runs until no new call has come up for a while. */
async function seeAllCalls(
  { functions }: ChaosSystem,
  crashes: Crashes,
  callsWithoutNews: number,
): Promise<void> {
  const invoked = () => [...functions.values()].reduce((sum, each) => sum + each.counts().invocations, 0);
  for (let known = -1; crashes.seen().length > known; ) {
    known = crashes.seen().length;
    const enough = invoked() + callsWithoutNews;
    while (invoked() < enough) await wait(100);
  }
}

/** Runs until all points are hit, or none was for this long: on a busy machine each takes longer. */
async function untilNoneIsStruck(crashes: Crashes, longestMs: number): Promise<void> {
  for (let known = Number.POSITIVE_INFINITY; crashes.left().length < known; ) {
    known = crashes.left().length;
    await until(() => crashes.left().length < known || known === 0, longestMs);
  }
}

async function until(isDone: () => boolean, longestMs: number): Promise<void> {
  const end = Date.now() + longestMs;
  while (!isDone() && Date.now() < end) await wait(100);
}
