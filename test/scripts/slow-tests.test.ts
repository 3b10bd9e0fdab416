import { describe, expect, it } from "vitest";
import { slowTests } from "../support/run/slow-tests.ts";
import { testsByTier } from "../support/run/tiers.ts";

const { integration } = testsByTier();

describe("the list of slow tests", () => {
  it("gives a reason for each file of npm test that runs a whole stack", () => {
    const unexplained = integration.filter((file) => file.startsWith("test/e2e/") && !(file in slowTests));
    expect(unexplained).toEqual([]);
  });

  it("names files of npm test only", () => {
    expect(Object.keys(slowTests).filter((file) => !integration.includes(file))).toEqual([]);
  });
});
