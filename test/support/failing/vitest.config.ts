import { defineConfig } from "vitest/config";
import { onEngines } from "../../../vitest.config.ts";

/** Runs tests that fail on purpose, as `npm test` runs those on engines. */
export default defineConfig({
  test: { ...onEngines, include: ["test/support/failing/with-stack.ts"], testTimeout: 600_000 },
});
