import { describe, expect, it } from "vitest";
import { addRounds } from "../../../proof/bench/measure/rounds.ts";
import { estimate, isWithin } from "../../../proof/bench/measure/statistics.ts";
import { warnOfOtherWork } from "../../../proof/bench/quiet-machine.ts";

/** Measures rounds of these values, from the first two on. */
const measured = (
  values: readonly number[],
  maxRounds: number,
  isCertain: (taken: readonly number[]) => boolean,
) =>
  addRounds(values.slice(0, 2), { rounds: 2, maxRounds }, isCertain, async (taken, round) => [
    ...taken,
    values[round] ?? Number.NaN,
  ]);

describe("rounds of a measurement", () => {
  it("go on until what was taken is certain, and no further", async () => {
    expect(await measured([1, 2, 3, 4, 5, 6], 6, (taken) => taken.length === 4)).toEqual([1, 2, 3, 4]);
  });

  it("are none more where the first are certain", async () => {
    expect(await measured([1, 2, 3], 3, () => true)).toEqual([1, 2]);
  });

  it("end at their limit where nothing becomes certain", async () => {
    expect(await measured([1, 2, 3, 4, 5, 6], 5, () => false)).toEqual([1, 2, 3, 4, 5]);
  });
});

describe("an interval", () => {
  it.each([
    [{ median: 1, low: 0.91, high: 1.09 }, true],
    [{ median: 1, low: 0.89, high: 1.01 }, false],
    [{ median: 1, low: 0.99, high: 1.11 }, false],
    [{ median: 10, low: 9.5, high: 10.5 }, true],
  ])("is narrow enough where it reaches no further than a tenth to either side: %j", (interval, expected) => {
    expect(isWithin(interval, 0.1)).toBe(expected);
  });

  it("of values that are all the same is that value", () => {
    expect(estimate([3, 3, 3, 3], () => 0.5)).toEqual({ median: 3, low: 3, high: 3 });
  });
});

describe("a machine that has other work", () => {
  it("is warned of, with the load and the remedy, before anything is recorded", () => {
    expect(warnOfOtherWork(1.3)).toMatch(/1\.3 processes wait on average, 0\.5 at most may; .*--busy$/);
  });

  it("is none where hardly anything waits for a processor", () => {
    expect(warnOfOtherWork(0.5)).toBeUndefined();
  });
});
