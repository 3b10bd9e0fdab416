import { describe } from "vitest";
import { holdsOnEngines } from "../functions/support/erasure-on-engines.ts";

// A separate file, and so a separate process.
describe("the law of erasure on engines, longer histories", () =>
  holdsOnEngines(undefined, [400], { part: 2, mostHappenings: 24 }));
