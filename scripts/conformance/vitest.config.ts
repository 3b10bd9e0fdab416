import { defineConfig } from "vitest/config";

/**
 * The sandbox's tests alone, without what the pipeline's need; the report goes where the command line says. Those in
 * a browser are left out: no statement rests on them alone, and not every machine has one.
 */
export default defineConfig({
  test: {
    include: ["test/sandbox/**/*.test.ts"],
    exclude: ["test/sandbox/**/*-browser.test.ts"],
    testTimeout: 20_000,
  },
});
