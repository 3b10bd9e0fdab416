import { describe } from "vitest";
import { holdsOnEngines } from "../functions/support/erasure-on-engines.ts";

// A separate file, and so a separate process.
describe("the law of erasure on engines, still further histories", () =>
  holdsOnEngines(undefined, [1_500], 2));
