import { describe, expect, it } from "vitest";
import {
  closed,
  parseBreakerSettings,
  paused,
  reopened,
  spreadInSeconds,
} from "../../../domain/fetch/call-limits.ts";

const now = new Date("2026-03-01T12:00:00.000Z");
const settings = { failures: 5, baseSeconds: 10, maxSeconds: 60 };
const secondsAfterNow = (openUntil: number) => (openUntil - now.getTime()) / 1000;

describe("a breaker", () => {
  it("doubles its wait each time a probe fails, up to the longest wait", () => {
    let breaker = closed;
    const waits = [10, 20, 40, 60, 60].map((_, index) => {
      breaker = reopened(breaker, now, settings, 1);
      expect(breaker.opened).toBe(index + 1);
      return secondsAfterNow(breaker.openUntil);
    });
    expect(waits).toEqual([10, 20, 40, 60, 60]);
  });

  it("waits a random time between half of that and all of it", () => {
    expect(secondsAfterNow(reopened(closed, now, settings, 0).openUntil)).toBe(5);
    expect(secondsAfterNow(reopened(closed, now, settings, 0.5).openUntil)).toBe(7.5);
  });

  it("pauses for as long as the provider asks, over its own longest wait too, and counts that as no failure", () => {
    const opened = { openUntil: 0, opened: 2 };
    expect(paused(opened, now, 30)).toEqual({ openUntil: now.getTime() + 30_000, opened: 2 });
    expect(secondsAfterNow(paused(opened, now, 3_600).openUntil)).toBe(3_600);
    expect(secondsAfterNow(paused(opened, now, 0.0005).openUntil)).toBe(0.001);
  });

  it("spreads waiting callers over twice the time between two probes", () => {
    expect([0, 1, 9].map((opened) => spreadInSeconds({ openUntil: 0, opened }, settings))).toEqual([
      20, 40, 120,
    ]);
  });

  it("refuses invalid settings by name", () => {
    expect(parseBreakerSettings(settings)).toEqual(settings);
    for (const name of Object.keys(settings)) {
      expect(() => parseBreakerSettings({ ...settings, [name]: "many" })).toThrow(name);
    }
    expect(() => parseBreakerSettings(undefined)).toThrow("provider.breaker");
  });
});
