import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { batchesOf, roundsOf } from "../../../domain/core/batches.ts";

const sum = (numbers: readonly number[]) => numbers.reduce((one, other) => one + other, 0);
const bytesOf = (item: number) => item;

test("batches hold all items in order, within both limits, and none could take the next one's first item", () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(20)),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 30 }),
      (items, maxItems, maxBytes) => {
        const batches = batchesOf(items, { maxItems, maxBytes, bytesOf });
        expect(batches.flat()).toEqual(items);
        for (const [index, batch] of batches.entries()) {
          expect(batch.length).toBeGreaterThan(0);
          expect(batch.length).toBeLessThanOrEqual(maxItems);
          if (batch.length > 1) expect(sum(batch)).toBeLessThanOrEqual(maxBytes);
          const [next] = batches[index + 1] ?? [];
          if (next === undefined) continue;
          expect(batch.length === maxItems || sum(batch) + next > maxBytes).toBe(true);
        }
      },
    ),
  );
});

test("an item over the limit is a batch of its own", () => {
  expect(batchesOf([1, 9, 1], { maxItems: 10, maxBytes: 5, bytesOf })).toEqual([[1], [9], [1]]);
});

describe("rounds", () => {
  const keyOf = ([key = ""]: string) => key;

  it("hold each key once at most, its items one after the other", () => {
    expect(roundsOf(["a1", "b1", "a2", "c1", "a3", "b2"], keyOf)).toEqual([
      ["a1", "b1", "c1"],
      ["a2", "b2"],
      ["a3"],
    ]);
  });
});
