import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/support/run/longest-first.ts";
import { testsByTier } from "./test/support/run/tiers.ts";

const { unit, stages, integration, isolated, proof } = testsByTier();

/** What tests on engines start with: hosts that the whole run shares, and what each file needs of its own. */
export const onEngines = {
  globalSetup: ["temporary-directory", "table-engine-host", "assembly-host"].map(
    (name) => `test/support/run/${name}.ts`,
  ),
  setupFiles: ["test/support/run/repeat-laws.ts", "test/support/run/running-systems.ts"],
  // Most of their time is waiting, for engines, queues and processes.
  maxWorkers: 4,
  // Files of one process share what they import: the SDK and the engines take longer to load than most tests.
  isolate: false,
};

/** What `npm test` runs on engines. */
const quick = { provide: { tier: "integration" }, sequence: { groupOrder: 1 }, ...onEngines } as const;

/** What leaves nothing behind: its files share what they import. */
const sharedThreads = {
  pool: "threads",
  isolate: false,
  maxWorkers: 2,
  sequence: { groupOrder: 0 },
} as const;

export default defineConfig({
  test: {
    // These end what hangs, and assert no time: a busy machine takes several times as long as a quiet one.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 120_000, interval: 20 } },
    sequence: { sequencer: LongestFirst },
    reporters: ["default", "json"],
    // The scripts of package.json name a report each, from which continuous integration takes its counts.
    outputFile: { json: ".local/test-report.json" },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: unit,
          setupFiles: ["test/support/run/repeat-laws.ts", "test/support/run/unit-guard.ts"],
          ...sharedThreads,
        },
      },
      {
        extends: true,
        test: {
          name: "stages",
          include: stages,
          globalSetup: "test/support/run/temporary-directory.ts",
          setupFiles: onEngines.setupFiles,
          ...sharedThreads,
        },
      },
      { extends: true, test: { name: "integration", include: integration, ...quick } },
      { extends: true, test: { name: "isolated", include: isolated, ...quick, isolate: true } },
      {
        extends: true,
        test: {
          name: "proof",
          include: proof,
          provide: { tier: "proof" },
          sequence: { groupOrder: 2 },
          ...onEngines,
          // Several whole stacks at once, killed and restarted, would run into each other's time-outs.
          maxWorkers: 3,
        },
      },
    ],
  },
});
