import { describe, expect, it } from "vitest";
import {
  giveUpLimits,
  isGivenUp,
  longestOutageInHours,
  maxReceiveCount,
  waitFor,
} from "../../../domain/fetch/task.ts";

const pace = { baseSeconds: 2, maxSeconds: 900 };
const day = 86_400;
const limits = giveUpLimits(14 * day);

describe("the wait of a task", () => {
  it("doubles with each receive, and is its upper half at random", () => {
    expect([1, 2, 3].map((receives) => waitFor(receives, pace, 0))).toEqual([2, 4, 8]);
    expect([1, 2, 3].map((receives) => waitFor(receives, pace, 1))).toEqual([4, 8, 16]);
  });

  it("is at least the requested wait, plus the backoff's jitter", () => {
    expect(waitFor(1, { ...pace, atLeastSeconds: 60 }, 0)).toBe(60);
    expect(waitFor(1, { ...pace, atLeastSeconds: 60 }, 1)).toBe(62);
  });

  it.each([0, 1])("never exceeds the maximum, whatever is requested (random: %d)", (random) => {
    const waits = [waitFor(9, pace, random), waitFor(1_000, pace, random)];
    const asked = waitFor(1, { ...pace, atLeastSeconds: 10_000 }, random);
    for (const wait of [...waits, asked]) expect(wait).toBe(random === 0 ? 900 : 886);
  });

  it("grows evenly while it waits for a permit, up to the maximum at receive 22", () => {
    const waits = (random: number) =>
      [1, 11, 22].map((receives) => waitFor(receives, { ...pace, isForPermit: true }, random));
    expect(waits(0)).toEqual([2, 225, 900]);
    expect(waits(1)).toEqual([4, 450, 886]);
  });

  it("is in whole seconds, and never below the requested wait", () => {
    expect(waitFor(1, { ...pace, atLeastSeconds: 60.2 }, 0)).toBe(61);
  });

  it("is a second at least", () => {
    expect(waitFor(1, { baseSeconds: 0, maxSeconds: 900 }, 0)).toBe(1);
  });
});

describe("a task that keeps failing", () => {
  it("is rejected at receive 990 or after 13 days, before SQS moves or drops it", () => {
    expect(limits).toEqual({ maxReceives: 990, maxAgeSeconds: 13 * day });
    expect(isGivenUp(989, 13 * day - 1, limits)).toBe(false);
    expect(isGivenUp(990, 0, limits)).toBe(true);
    expect(isGivenUp(1, 13 * day, limits)).toBe(true);
    expect(maxReceiveCount).toBeGreaterThan(limits.maxReceives);
  });

  it("is rejected before its queue drops it, whatever the queue's retention", () => {
    for (const retention of [60, day, 4 * day]) {
      const { maxAgeSeconds } = giveUpLimits(retention);
      expect(maxAgeSeconds).toBeLessThan(retention);
      expect(maxAgeSeconds).toBeGreaterThan(0.9 * retention);
    }
  });

  it("survives 240 hours, or less if its longest wait is shorter", () => {
    expect(longestOutageInHours(900, limits)).toBeGreaterThanOrEqual(240);
    expect(longestOutageInHours(90, limits)).toBe(24);
    expect(longestOutageInHours(90_000, limits)).toBe(13 * 24);
  });

  it.each([0, 0.5, 1])("survives an outage of 240 hours (random: %d)", (random) => {
    let seconds = 0;
    let receives = 1;
    for (; seconds < 240 * 3_600; receives += 1) seconds += waitFor(receives, pace, random);
    expect(isGivenUp(receives, seconds, limits)).toBe(false);
  });
});
