import { describe, expect, it } from "vitest";
import { readPrices } from "../../bench/price.ts";
import { type Results, withResults } from "../../bench/report/document.ts";
import { lineOf } from "../../bench/report/lines.ts";
import { plotOf } from "../../bench/report/plot.ts";
import { absoluteRow, pairedRow } from "../../bench/rows/row.ts";

const middle = (values: readonly number[]) => {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (index: number) => sorted[index] ?? Number.NaN;
  return { median: at(1), low: at(0), high: at(2) };
};
const row = pairedRow(
  "cpu-store",
  "µs",
  [10, 20, 30],
  [
    { over: "powertools", atMost: 0.5, values: [40, 50, 60] },
    { over: "floor", atLeast: 3, values: [10, 10, 10] },
  ],
  middle,
);

describe("a row of results", () => {
  it("is the ratio of pairs, with its goal, in a line for each peer", () => {
    expect(lineOf(row)).toEqual(["cpu-store/powertools 0.40 ≤0.5 ok", "cpu-store/floor 2.00 ≥3 short"]);
    expect(lineOf(absoluteRow("latency", "p99 over p50", 3.5, 3))).toEqual(["latency 3.50 ≤3 short"]);
  });
});

describe("the document of results", () => {
  const results: Results = { date: "2026-01-02", machine: "2 cores", versions: { Node: "24" }, rows: [row] };
  const marks = "<!-- results: written by npm run bench -- --document -->\nold\n<!-- end of results -->";

  it("holds them between its marks, and nothing else changes", () => {
    const written = withResults(`before\n${marks}\nafter`, results);
    expect(written).toMatch(/^before\n<!-- results[\s\S]*<!-- end of results -->\nafter$/);
    expect(written).toContain("| cpu-store | µs | 20 | 50 (powertools) | 0.40 (0.25 to 0.50) | ≤ 0.5 | ok |");
    expect(written).not.toContain("old");
    expect(withResults(written, results)).toBe(written);
  });

  it("is refused where it has no marks", () => {
    expect(() => withResults("nothing", results)).toThrow("misses");
  });

  it("is drawn as an SVG with a point for each ratio", () => {
    const svg = plotOf([row]);
    expect(svg).toMatch(/^<svg/);
    expect(svg).toContain("cpu-store over powertools");
  });
});

describe("the price file", () => {
  it("names its date and every price", () => {
    expect(readPrices()).toMatchObject({ currency: "USD", date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) });
  });
});
