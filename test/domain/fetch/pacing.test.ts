import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { leastRequestsPerMinute, windowsOf } from "../../../domain/fetch/pacing.ts";

const rates = fc.integer({ min: leastRequestsPerMinute, max: 1_000_000 });

describe("the windows of a rate", () => {
  it("permit at least one call each", () => {
    fc.assert(fc.property(rates, (rate) => windowsOf(rate).callsPerWindow >= 1));
  });

  it("never hold more calls than the rate in any minute, wherever it begins and however late calls arrive", () => {
    const delays = fc.double({ min: 0, max: 1, noNaN: true });
    const minutes = fc.double({ min: 0, max: 3, noNaN: true });
    fc.assert(
      fc.property(
        fc.integer({ min: 3, max: 400 }),
        minutes,
        fc.array(delays, { minLength: 1 }),
        (rate, from, late) => {
          const { windowInSeconds, callsPerWindow } = windowsOf(rate);
          // Every window is used up; a call leaves within its window, and arrives at most one window later.
          const arrivals = Array.from({ length: Math.ceil(300 / windowInSeconds) }, (_, window) =>
            Array.from({ length: callsPerWindow }, (__, call) => {
              const delay = late[(window * callsPerWindow + call) % late.length] ?? 0;
              return (window + delay * 2) * windowInSeconds;
            }),
          ).flat();
          const start = from * 60;
          const inMinute = arrivals.filter((time) => time >= start && time < start + 60);
          expect(inMinute.length).toBeLessThanOrEqual(rate);
        },
      ),
    );
  });

  it("give at least nine tenths of a rate of a hundred and more", () => {
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 1_000_000 }), (rate) => {
        const { windowInSeconds, callsPerWindow } = windowsOf(rate);
        expect((callsPerWindow * 60) / windowInSeconds).toBeGreaterThanOrEqual(rate * 0.9);
      }),
    );
  });
});
