import { createThrottle } from "@income-events/local-stack/api/routes.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

describe("the throttle of a route", () => {
  it("lets through what a route's own settings say", () => {
    const isLet = createThrottle(
      { ratePerSecond: 10, burst: 3, routes: { $default: { ratePerSecond: 1, burst: 1 } } },
      () => 0,
    );
    const times = (key: string) => [1, 2, 3, 4].map(() => isLet(key));
    expect(times("$default")).toEqual([true, false, false, false]);
    expect(times("ANY /webhooks/users")).toEqual([true, true, true, false]);
  });

  it("lets a burst through at once, then its rate", () => {
    let time = 0;
    const isLet = createThrottle({ ratePerSecond: 10, burst: 3 }, () => time);
    expect([1, 2, 3, 4].map(() => isLet("POST /a"))).toEqual([true, true, true, false]);
    time = 100;
    expect([isLet("POST /a"), isLet("POST /a")]).toEqual([true, false]);
    time = 60_000;
    expect([1, 2, 3, 4].map(() => isLet("POST /a"))).toEqual([true, true, true, false]);
  });

  it("is that of the route alone", () => {
    const isLet = createThrottle({ ratePerSecond: 1, burst: 1 }, () => 0);
    expect([isLet("POST /a"), isLet("POST /a"), isLet("POST /b")]).toEqual([true, false, true]);
  });

  it("never lets through more than the burst and the rate of the time that has passed", () => {
    const waits = fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 200 });
    fc.assert(
      fc.property(
        waits,
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 20 }),
        (steps, rate, burst) => {
          let time = 0;
          const isLet = createThrottle({ ratePerSecond: rate, burst }, () => time);
          const passed = steps.filter((step) => {
            time += step;
            return isLet("POST /a");
          });
          expect(passed.length).toBeLessThanOrEqual(burst + (time / 1000) * rate + 1e-6);
        },
      ),
    );
  });
});
