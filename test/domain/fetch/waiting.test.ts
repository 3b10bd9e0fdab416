import { describe, expect, it } from "vitest";
import { isGivenUp, maxOutageInHours, maxReceiveCount, waitFor } from "../../../domain/fetch/waiting.ts";

const pace = { baseSeconds: 2, maxSeconds: 900 };
const day = 86_400_000;

describe("the wait of a task", () => {
  it("doubles with each receive, and is its upper half at random", () => {
    expect([1, 2, 3].map((receives) => waitFor(receives, pace, 0))).toEqual([2, 4, 8]);
    expect([1, 2, 3].map((receives) => waitFor(receives, pace, 1))).toEqual([4, 8, 16]);
  });

  it("is at least what is asked for, with the back-off's spread on top", () => {
    expect(waitFor(1, { ...pace, atLeastSeconds: 60 }, 0)).toBe(60);
    expect(waitFor(1, { ...pace, atLeastSeconds: 60 }, 1)).toBe(62);
  });

  it.each([0, 1])("is never above the longest, whatever asks for more (random: %d)", (random) => {
    const waits = [waitFor(9, pace, random), waitFor(1_000, pace, random)];
    const asked = waitFor(1, { ...pace, atLeastSeconds: 10_000 }, random);
    for (const wait of [...waits, asked]) expect(wait).toBe(random === 0 ? 900 : 886);
  });

  it("is a second at least", () => {
    expect(waitFor(1, { baseSeconds: 0, maxSeconds: 900 }, 0)).toBe(1);
  });
});

describe("a task that keeps failing", () => {
  it("is given up at receive 990 or after 13 days, before SQS moves or drops it", () => {
    expect(isGivenUp(989, 0, 13 * day - 1)).toBe(false);
    expect(isGivenUp(990, 0, 0)).toBe(true);
    expect(isGivenUp(1, 0, 13 * day)).toBe(true);
    expect(maxReceiveCount).toBeGreaterThan(990);
  });

  it.each([0, 0.5, 1])("survives the longest outage that can be set (random: %d)", (random) => {
    let seconds = 0;
    let receives = 1;
    for (; seconds < maxOutageInHours * 3_600; receives += 1) seconds += waitFor(receives, pace, random);
    expect(isGivenUp(receives, 0, seconds * 1_000)).toBe(false);
  });
});
