import { mkdirSync } from "node:fs";
import type { DynamoDbEngine } from "@income-events/local-stack/engines/dynamodb.ts";
import { account } from "./audit/audit-events.ts";
import { gatherEvidence } from "./audit/gather-evidence.ts";
import { assessRun, reportLine, type Tally } from "./audit/report-line.ts";
import { crashFunctions } from "./crashes/crash-points.ts";
import { injectFaults } from "./faults/fault-schedule.ts";
import { keepJournal, leaveTraces } from "./journal.ts";
import { keepLoading } from "./load/keep-loading.ts";
import { loseWebhooks } from "./load/lose-webhooks.ts";
import { recover, waitUntilIdle } from "./load/recover.ts";
import { type FaultOptions, type Progress, runFaultPhases } from "./run-fault-phases.ts";
import { type ChaosSystem, startChaosSystem } from "./system.ts";

export type RunOptions = FaultOptions & {
  /** Directory of the synthesized stage. */
  readonly assembly: string;
  readonly engine?: DynamoDbEngine;
};

export type RunResult = {
  readonly tally: Tally;
  readonly line: string;
  /** Reasons why the run fails; see `assessRun`. */
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
  const faults = injectFaults(options.seed);
  const journal = keepJournal();
  system.interfere(journal.writing(crashes.around(faults.interference)));
  const load = keepLoading(system, progress);
  const phases = await runFaultPhases(system, { crashes, faults, load, options, progress });
  await load.stop();
  progress("Faults are over: waiting until every queue is empty and the stream is read");
  await waitUntilIdle(system, patience);
  progress("Redriving what was given up");
  await recover(system, patience);
  const differences = await loseWebhooks(system, options, progress);
  progress("Counting in the table, in the queues and in what the observers recorded");
  await system.observers.call("finish");
  const result = account(await gatherEvidence(system, { ...load, tries: options.tries }));
  if (result.lost > 0) leaveTraces(options.directory, [...result.lostEvents.keys()], journal, system);
  const fired: readonly (readonly [string, number])[] = [
    ...faults.counts(),
    ...[...phases.corrupted].map(([how, count]) => [`batch ${how}`, count] as const),
  ];
  const tally = {
    ...result,
    ...phases,
    faults: fired.reduce((sum, [, count]) => sum + count, 0),
    kills: crashes.kills(),
  };
  return {
    tally,
    line: reportLine(tally),
    faults: [
      ...assessRun(result, {
        fired,
        left: crashes.left(),
        initErrors: system.stack.problems().initErrors,
      }),
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
