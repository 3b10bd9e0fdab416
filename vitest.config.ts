import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Hosts the table engines of the run; they start when a test first asks for them.
    globalSetup: ["test/support/table-engine-host.ts"],
    setupFiles: ["test/support/repeat-laws.ts"],
    // End-to-end tests mostly wait for time-outs of queues: two at once fit two cores.
    maxWorkers: 2,
    // Ends what hangs, and asserts no time: a busy machine takes several times as long as a quiet one.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // The report is where continuous integration takes its counts from.
    reporters: ["default", ["json", { outputFile: ".local/test-report.json" }]],
  },
});
