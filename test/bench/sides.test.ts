import { expect, it } from "vitest";
import { readPrices } from "../../bench/price.ts";
import { spendingRows } from "../../bench/rows/spending-rows.ts";

/** Nothing is asserted about a figure: that all sides end with the same records and messages is the run's own check. */
it("all sides take the same load to the same records and messages", { timeout: 300_000 }, async () => {
  const estimate = ([first = 0]: readonly number[]) => ({ median: first, low: first, high: first });
  const rows = await spendingRows({
    events: 20,
    rounds: 1,
    prices: readPrices(),
    estimate,
    onProgress: () => undefined,
  });
  expect(rows.map(({ name }) => name)).toEqual([
    ...["ddb-writes-0", "ddb-writes-30", "ddb-writes-90", "sqs-requests"],
    ...["cpu-receive", "cpu-store", "cpu-relay", "cpu-fetch", "memory", "secret-reads", "price"],
  ]);
  const figures = rows.flatMap(({ ours, comparisons }) => [ours, ...comparisons.map(({ theirs }) => theirs)]);
  expect(figures.every((figure) => Number.isFinite(figure))).toBe(true);
});
