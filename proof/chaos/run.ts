import { mkdirSync } from "node:fs";
import { waitUntilIdle } from "@income-events/local-stack/wait-until-idle.ts";
import { account } from "./audit/audit-events.ts";
import { gatherEvidence } from "./audit/gather-evidence.ts";
import { crashFunctions } from "./crashes/crash-points.ts";
import { Faults } from "./faults/fault-schedule.ts";
import { Journal } from "./journal.ts";
import { keepLoading } from "./load/keep-loading.ts";
import { loseWebhooks } from "./load/lose-webhooks.ts";
import { recover } from "./load/recover.ts";
import type { RunOptions } from "./options.ts";
import { type Progress, runFaultPhases } from "./run-fault-phases.ts";
import { type ChaosSystem, startChaosSystem } from "./system.ts";

const counted = [
  ...(["sent", "stored", "deadlettered", "refused", "lost", "duplicated"] as const),
  ...(["faults", "kills"] as const),
];

/** Events by fate, calls that met a fault, kills, and crash points that were hit (`struck`) of those chosen. */
export type Tally = Readonly<Record<(typeof counted)[number] | "struck" | "points", number>>;

/** Last line of the output, with the sums of all runs. */
export function reportLine(...tallies: readonly Tally[]): string {
  const sum = (name: keyof Tally) => tallies.reduce((total, tally) => total + tally[name], 0);
  const counts = counted.map((name) => `${name} ${sum(name)}`).join(" ");
  return `chaos: ${counts} crashpoints ${sum("struck")}/${sum("points")}`;
}

export type RunResult = {
  readonly tally: Tally;
  /**
   * Reasons why the run fails; empty if nothing was lost or duplicated, the account closes and every fault was
   * tried.
   */
  readonly faults: readonly string[];
};

/** Milliseconds after which a wait fails. */
const patience = 900_000;

/** Runs one seed: the same seed gets the same schedule of faults and kills. */
export async function runChaos(options: RunOptions, progress: Progress): Promise<RunResult> {
  mkdirSync(options.directory, { recursive: true });
  progress(`Starting the stage, the provider and the observers, with the seed ${options.seed}`);
  await using system = await startChaosSystem(options);
  const crashes = crashFunctions(options.seed, victimsOf(system));
  const faults = new Faults(options.seed);
  const journal = new Journal();
  system.interfere(journal.recording(crashes.around(faults.interference)));
  const load = keepLoading(system, progress);
  const phases = await runFaultPhases(system, { crashes, faults, load, options, progress });
  await load.stop();
  progress("Faults are over: waiting until every queue is empty and the stream is read");
  await waitUntilIdle(system, patience);
  progress("Redriving what was given up");
  await recover(system, patience);
  const differences = await loseWebhooks(system, options, progress);
  progress("Counting in the table, in the queues and in what the observers recorded");
  await system.observers.finish();
  const result = account(await gatherEvidence(system, { ...load, tries: options.tries }));
  const { lostEvents, duplicates, unaccounted } = result;
  if (result.lost > 0) journal.writeTraces(options.directory, lostEvents.keys(), system);
  const corrupted = [...phases.corrupted].map(([how, count]) => [`batch ${how}`, count] as const);
  const fired: readonly (readonly [string, number])[] = [...faults.counts(), ...corrupted];
  const tally = {
    ...result,
    ...phases,
    faults: fired.reduce((sum, [, count]) => sum + count, 0),
    kills: crashes.kills(),
  };
  return {
    tally,
    faults: [
      ...[...lostEvents].map(([id, why]) => `lost: ${id}: ${why}`),
      ...duplicates.map((words) => `duplicated: ${words}`),
      ...unaccounted.map((words) => `the account does not close: ${words}`),
      ...fired.filter(([, count]) => count === 0).map(([name]) => `the fault "${name}" never fired`),
      ...crashes.left().map((point) => `the crash point "${point}" was not struck`),
      ...system.stack.problems().initErrors,
      ...differences,
    ],
  };
}

function victimsOf({ functions }: ChaosSystem) {
  return {
    kill: (name: string) => functions.get(name)?.killWorking() ?? 0,
    succeeded: (name: string) => {
      const { invocations = 0, errors = 0, running = 0 } = functions.get(name)?.counts() ?? {};
      return invocations - errors - running;
    },
  };
}
