import { defineConfig } from "vitest/config";
import { groups, isGroupName } from "./groups.ts";

const name = process.env.MUTANTS_OF;
if (!isGroupName(name)) throw new Error("MUTANTS_OF: expected a group of proof/mutants/groups.ts");

/** The tests of one group, as Stryker runs them. */
export default defineConfig({
  test: {
    include: [...groups[name].tests],
    // Counting what each expression does takes minutes in a loop over a large text.
    exclude: ["test/**/*-large.test.ts"],
    globalSetup: ["test/support/run/table-engine-host.ts"],
    provide: { proof: false },
    setupFiles: ["proof/mutants/shorten-laws.ts"],
    reporters: [],
    testTimeout: 300_000,
    hookTimeout: 60_000,
  },
});
