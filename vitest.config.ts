import { globSync, readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const unit = "test/**/!(*.int|*.e2e|*.proof).test.ts";
const onRealParts = ["test/**/*.int.test.ts", "test/**/*.e2e.test.ts"];
const long = "test/**/*.proof.test.ts";

/** Tests that `npm run proof` repeats with more cases or on another table engine. */
const repeated = () =>
  globSync([unit, ...onRealParts]).filter((file) =>
    /\b(describeOnTables|shareOfTier)\(/.test(readFileSync(file, "utf8")),
  );

const longestFirst = [
  "e2e/storm.e2e",
  "e2e/chaos.e2e",
  "scripts/install.int",
  "e2e/commands/restore-drill.e2e",
  "functions/erase/erasure-law-on-engines.int",
  "scripts/pack.int",
  "e2e/console/console.e2e",
];

/** Starts the longest files first: started last, they would run while other workers are idle. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const place = ({ moduleId }: TestSpecification) => {
      const found = longestFirst.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
      return found === -1 ? longestFirst.length : found;
    };
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b));
  }
}

/** Settings of tests on engines, shared by one run. */
export const onEngines = {
  globalSetup: ["temporary-directory", "table-engine-host", "assembly-host"].map(
    (name) => `test/support/run/${name}.ts`,
  ),
  setupFiles: ["test/support/run/repeat-laws.ts", "test/support/run/running-systems.ts"],
  // Chaos and the storm mostly wait; the others need the processor. More workers take the time that chaos's
  // functions have.
  maxWorkers: 4,
  // Files of one process share their imports: loading the SDK, CDK and the engines takes longer than most
  // tests.
  isolate: false,
};

export default defineConfig({
  test: {
    // Ends tests that hang; a busy machine takes several times as long as an idle one.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 120_000, interval: 20 } },
    reporters: ["default", "json"],
    // Each script of package.json names a report, from which continuous integration takes its counts.
    outputFile: { json: ".local/test-report.json" },
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: [unit],
          provide: { proof: false },
          setupFiles: ["test/support/run/repeat-laws.ts", "test/support/run/unit-guard.ts"],
          pool: "threads",
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: "engines",
          include: onRealParts,
          provide: { proof: false },
          sequence: { groupOrder: 1 },
          ...onEngines,
        },
      },
      {
        extends: true,
        test: {
          name: "proof",
          include: [long, ...repeated()],
          provide: { proof: true },
          sequence: { groupOrder: 2 },
          ...onEngines,
          // More concurrent stacks, killed and restarted, would cause each other's time-outs.
          maxWorkers: 3,
        },
      },
    ],
  },
});
