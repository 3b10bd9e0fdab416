import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mostInAnyMinute } from "../../../proof/outage/count.ts";

describe("the most calls in any minute", () => {
  it("is found where it lies across two full minutes", () => {
    expect(mostInAnyMinute([59_000, 59_999, 60_000, 61_000])).toBe(4);
  });

  it("ends before the moment that is a minute after its first call", () => {
    expect(mostInAnyMinute([0, 59_999])).toBe(2);
    expect(mostInAnyMinute([0, 60_000])).toBe(1);
  });

  it("is none without calls", () => {
    expect(mostInAnyMinute([])).toBe(0);
  });

  const times = fc.array(fc.integer({ min: 0, max: 200_000 }), { maxLength: 60 });

  it("is what counting from each call finds, in any order (law)", () => {
    fc.assert(
      fc.property(times, (given) => {
        const fromEach = given.map(
          (start) => given.filter((time) => time >= start && time < start + 60_000).length,
        );
        expect(mostInAnyMinute(given)).toBe(Math.max(0, ...fromEach));
      }),
    );
  });

  it("does not depend on when the counting began (law)", () => {
    fc.assert(
      fc.property(times, fc.integer({ min: 0, max: 10_000_000 }), (given, later) => {
        expect(mostInAnyMinute(given.map((time) => time + later))).toBe(mostInAnyMinute(given));
      }),
    );
  });
});
