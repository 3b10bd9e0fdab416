import { describe, expect, it } from "vitest";
import { measure, secretOf } from "../../proof/timing/measure.ts";
import { naiveComparison } from "../../proof/timing/naive.ts";
import { largestT, welch } from "../../proof/timing/welch.ts";

/** Numbers that are the same each time, evenly from 0 to 1. */
function repeatable(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

describe("Welch's t", () => {
  it("is the difference of the means in standard errors, each class with its own variance", () => {
    // Means 2 and 5, variances 1 and 20/3: -3 / sqrt(1/3 + 20/12).
    expect(welch([1, 2, 3], [2, 4, 6, 8])).toBeCloseTo(-3 / Math.SQRT2, 12);
    expect(welch([2, 4, 6, 8], [1, 2, 3])).toBeCloseTo(3 / Math.SQRT2, 12);
    expect(welch([5, 5], [5, 5])).toBe(0);
  });
});

describe("the largest t", () => {
  const random = repeatable(1);
  const series = (base: number) =>
    Array.from({ length: 20_000 }, () => base + random() * 10 + (random() < 0.05 ? random() * 100_000 : 0));

  it("is small where both classes take the same time, however long the tail of the noise", () => {
    expect(largestT({ first: series(100), second: series(100) })).toBeLessThan(4.5);
  });

  it("is large where one takes a little longer, though the noise of the tail hides it", () => {
    const [first, second] = [series(100), series(100.5)];
    expect(Math.abs(welch(first, second))).toBeLessThan(4.5);
    expect(largestT({ first, second })).toBeGreaterThan(10);
  });

  it("is none of a handful of measurements", () => {
    expect(largestT({ first: [1, 2, 3], second: [7, 8, 9] })).toBe(0);
  });
});

describe("a measurement", () => {
  it("sees a comparison that ends where the texts differ", () => {
    const secret = secretOf(4_096);
    expect(largestT(measure(naiveComparison(secret), secret, 4_000))).toBeGreaterThan(10);
  });

  it("times wrong texts of the secret's length only, of both classes", () => {
    const secret = secretOf(32);
    const seen = new Set<string>();
    const { first, second } = measure((text) => seen.add(text).size < 0, secret, 2_000);
    expect(first.length + second.length).toBe(2_000);
    expect(Math.min(first.length, second.length)).toBeGreaterThan(500);
    expect(seen.has(secret)).toBe(false);
    expect([...seen].every(({ length }) => length === 32)).toBe(true);
    expect([...seen].filter((text) => text.startsWith(secret.slice(0, -1)))).toHaveLength(1);
  });
});
