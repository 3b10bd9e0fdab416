import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { batchesOf, roundsOf } from "../../../domain/core/batches.ts";
import { keyPart } from "../../../domain/event/subjects.ts";
import { hostileText } from "../samples.ts";

describe("a part of a key", () => {
  it.each([
    ["0f8fad5b-d9cb-469f-a165-70867728950e", "0f8fad5b-d9cb-469f-a165-70867728950e"],
    ["a/b#c%2Fd", "a%2Fb%23c%252Fd"],
    ["zoë@example.com", "zoë@example.com"],
    [".", "%2E"],
    ["..", "%2E%2E"],
    ["a..b", "a..b"],
  ])("percent-encodes what joins parts, and nothing else: %s", (text, part) => {
    expect(keyPart(text)).toBe(part);
  });

  it("decodes to its text, so that different texts have different parts", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(decodeURIComponent(keyPart(text))).toBe(text);
      }),
    );
  });

  it("contains no separator, and is no parent directory in a path", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(keyPart(text)).not.toMatch(/[/#]|^\.{1,2}$/);
      }),
    );
  });

  it("is at most three times as long, so that the longest id fits a key of 1,024 bytes", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(Buffer.byteLength(keyPart(text))).toBeLessThanOrEqual(3 * text.length);
      }),
    );
  });
});

const sum = (numbers: readonly number[]) => numbers.reduce((one, other) => one + other, 0);
const bytesOf = (item: number) => item;

test("batches contain all items in order, within both limits, and as many as fit", () => {
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

  it("contain each key at most once, with its items in sequence", () => {
    expect(roundsOf(["a1", "b1", "a2", "c1", "a3", "b2"], keyOf)).toEqual([
      ["a1", "b1", "c1"],
      ["a2", "b2"],
      ["a3"],
    ]);
  });
});
