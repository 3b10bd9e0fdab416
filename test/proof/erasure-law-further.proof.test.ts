import { describe } from "vitest";
import { holdsOnEngines } from "../functions/support/erasure-on-engines.ts";

// In a file of its own, and so in a process beside that of the first half.
describe("the law of erasure on engines, still further histories", () =>
  holdsOnEngines(undefined, [1_500], 2));
