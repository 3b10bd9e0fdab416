import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Hosts the table engines of the run; they start when a test first asks for them.
    globalSetup: ["test/support/table-engine-host.ts"],
    setupFiles: ["test/support/repeat-laws.ts"],
    // End-to-end tests mostly wait for time-outs of queues: two at once fit two cores.
    maxWorkers: 2,
    // These end what hangs, and assert no time: a busy machine takes several times as long as a quiet one.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 120_000, interval: 20 } },
    // The report is where continuous integration takes its counts from.
    reporters: ["default", ["json", { outputFile: ".local/test-report.json" }]],
  },
});
