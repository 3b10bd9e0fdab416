import { describe } from "vitest";
import { holdsOnEngines } from "../functions/support/erasure-on-engines.ts";

describe("the law of erasure on engines, further histories", () =>
  holdsOnEngines(undefined, [1_000], { part: 1 }));
