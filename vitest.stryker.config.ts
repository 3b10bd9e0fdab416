import { defineConfig } from "vitest/config";

/** The tests that Stryker (`stryker.config.json`) runs on each mutant, unless the variable TESTS has another pattern. */
const tests = process.env.TESTS ?? "test/{domain,functions,adapters,proof/model}/**/!(*.proof).test.ts";

export default defineConfig({
  test: {
    include: [tests],
    // Counting what each expression does takes minutes in a loop over a large text.
    exclude: ["test/**/*-large.test.ts"],
    globalSetup: ["test/support/run/table-engine-host.ts"],
    setupFiles: ["test/support/run/repeat-laws.ts"],
    provide: { proof: false },
    reporters: [],
    testTimeout: 300_000,
    hookTimeout: 60_000,
  },
});
