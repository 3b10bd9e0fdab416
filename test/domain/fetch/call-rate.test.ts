import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  leastRequestsPerMinute,
  periodOf,
  Reservation,
  reservableCalls,
  windowsOf,
} from "../../../domain/fetch/call-limits.ts";

const rates = fc.integer({ min: leastRequestsPerMinute, max: 1_000_000 });

describe("the windows of a rate", () => {
  it.each([
    [3, 1, 1],
    [60, 54, 1],
    [1_000, 58, 15],
  ])(
    "of %i calls a minute are the %i that lose the fewest calls, of %i calls each",
    (rate, windows, callsPerWindow) => {
      expect(windowsOf(rate)).toEqual({ windowInSeconds: 60 / windows, callsPerWindow });
    },
  );

  it("permit at least one call each", () => {
    fc.assert(fc.property(rates, (rate) => windowsOf(rate).callsPerWindow >= 1));
  });

  it("never allow more calls than the rate in any minute, however late calls arrive", () => {
    const delays = fc.double({ min: 0, max: 1, noNaN: true });
    const minutes = fc.double({ min: 0, max: 3, noNaN: true });
    fc.assert(
      fc.property(
        fc.integer({ min: 3, max: 400 }),
        minutes,
        fc.array(delays, { minLength: 1 }),
        (rate, from, late) => {
          const { windowInSeconds, callsPerWindow } = windowsOf(rate);
          // Every window is used up; a call is sent within its window and arrives at most one window later.
          const arrivals = Array.from({ length: Math.ceil(300 / windowInSeconds) }, (_, window) =>
            Array.from({ length: callsPerWindow }, (__, call) => {
              const delay = late[(window * callsPerWindow + call) % late.length] ?? 0;
              return (window + delay * 2) * windowInSeconds;
            }),
          ).flat();
          const start = from * 60;
          const inMinute = arrivals.filter((time) => time >= start && time < start + 60);
          expect(inMinute.length + 2 * reservableCalls(rate)).toBeLessThanOrEqual(rate);
        },
      ),
    );
  });

  it("and one period's reservations give at least 88 % of a rate of a hundred and more", () => {
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 1_000_000 }), (rate) => {
        const { windowInSeconds, callsPerWindow } = windowsOf(rate);
        const leased = (callsPerWindow * 60) / windowInSeconds;
        expect(leased + reservableCalls(rate)).toBeGreaterThanOrEqual(rate * 0.88);
      }),
    );
  });
});

describe("reserved calls", () => {
  it.each([
    [3, 0],
    [39, 0],
    [40, 2],
    [79, 2],
    [80, 4],
    [1_000, 50],
  ])("of a rate of %d a minute are %d in each period", (rate, calls) => {
    expect(reservableCalls(rate)).toBe(calls);
  });

  it("of a minute belong to two periods, however old within an invocation a call's time is", () => {
    const seconds = fc.array(fc.tuple(fc.double({ min: 0, max: 59.9, noNaN: true }), fc.nat({ max: 901 })));
    fc.assert(
      fc.property(fc.nat({ max: 7_200 }), seconds, (start, calls) => {
        const periods = calls.map(([at, age]) => periodOf((10_000 + start + at - age) * 1_000));
        expect(new Set(periods).size).toBeLessThanOrEqual(2);
      }),
    );
  });

  it("are free again a minute after the call has ended, not after it began", async () => {
    let time = 0;
    const reservation = new Reservation(0, () => time);
    expect(await reservation.take()).toBeUndefined();
    const first = await reservation.take(async () => true);
    expect(await reservation.take()).toEqual(expect.any(Function));
    time = 90_000;
    expect(reservation.hasFree()).toBe(false);
    first?.();
    time += 59_999;
    expect(await reservation.take()).toBeUndefined();
    time += 1;
    expect(await reservation.take()).toEqual(expect.any(Function));
    expect(reservation.hasFree()).toBe(false);
  });

  it("are reserved two at first, then as many as before, up to eight, until none is left", async () => {
    const reservation = new Reservation(0, () => 0);
    const asked: number[] = [];
    const reserve = async (calls: number) => asked.push(calls) <= 6;
    for (let call = 0; call < 40; call += 1) await reservation.take(reserve);
    expect(asked).toEqual([2, 2, 4, 8, 8, 8, 8]);
  });
});
