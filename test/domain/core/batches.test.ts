import fc from "fast-check";
import { expect, test } from "vitest";
import { batchesOf } from "../../../domain/core/batches.ts";

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
