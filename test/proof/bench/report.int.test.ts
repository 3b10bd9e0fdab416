import { describe, expect, it } from "vitest";
import { readPrices } from "../../../proof/bench/price.ts";
import { withResults } from "../../../proof/bench/report/document.ts";
import { lineOf } from "../../../proof/bench/report/lines.ts";
import { plotOf } from "../../../proof/bench/report/plot.ts";
import { merged, type Origin } from "../../../proof/bench/report/results.ts";
import { unexplained } from "../../../proof/bench/report/shortfalls.ts";
import { absoluteRow, pairedRow } from "../../../proof/bench/rows/row.ts";

const middle = (values: readonly number[]) => {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.round((sorted.length - 1) * share)] ?? Number.NaN;
  return { median: at(0.5), low: at(0), high: at(1) };
};
const row = pairedRow(
  { name: "cpu-store", figure: "µs" },
  [10, 20, 30],
  [
    { over: "powertools", atMost: 0.5, values: [40, 50, 60] },
    { over: "floor", atLeast: 3, values: [10, 10, 10] },
  ],
  middle,
);
const latency = absoluteRow({ name: "latency", figure: "p99 over p50" }, [3.5], { atMost: 3 }, middle);
const duplicate = (units: number) =>
  absoluteRow({ name: "ddb-writes-duplicate", figure: "units" }, [units], { exactly: 1 }, middle);
const origin: Origin = {
  date: "2026-01-02",
  commit: "abc1234",
  machine: "2 cores",
  versions: { Node: "24" },
};

describe("a row of results", () => {
  it("is the ratio of pairs, with its goal, in a line for each peer", () => {
    expect(lineOf(row)).toEqual(["cpu-store/powertools 0.40 ≤0.5 ok", "cpu-store/floor 2.00 ≥3 short"]);
    expect(lineOf(latency)).toEqual(["latency 3.50 ≤3 short"]);
  });

  it("holds what must be exact against that number alone", () => {
    expect(lineOf(duplicate(1))).toEqual(["ddb-writes-duplicate 1.00 =1 ok"]);
    expect(lineOf(duplicate(0.99))).toEqual(["ddb-writes-duplicate 0.99 =1 short"]);
  });

  it("shows as many digits as show on which side of the goal it is", () => {
    const nearly = pairedRow(
      { name: "price", figure: "$" },
      [2.002],
      [{ over: "plain", atMost: 1, values: [2] }],
      middle,
    );
    expect(lineOf(nearly)).toEqual(["price/plain 1.001 ≤1 short"]);
  });

  it("keeps the raw figures of both implementations", () => {
    expect(row).toMatchObject({ samples: [10, 20, 30], comparisons: [{ samples: [40, 50, 60] }, {}] });
  });
});

describe("recorded results", () => {
  it("take a row that is measured again in the place of the old one, in the table's order", () => {
    const before = merged({ rows: [] }, [latency, row], origin);
    expect(before.rows.map(({ name }) => name)).toEqual(["cpu-store", "latency"]);
    const later = { ...origin, date: "2026-02-03" };
    const after = merged(before, [{ ...latency, ours: 2 }], later);
    expect(after.rows).toMatchObject([
      { name: "cpu-store", origin },
      { name: "latency", ours: 2, origin: later },
    ]);
  });

  it("drop rows that the table no longer has", () => {
    const before = merged({ rows: [] }, [row], origin);
    const [first] = before.rows;
    if (first === undefined) throw new Error("nothing was recorded");
    expect(merged({ rows: [{ ...first, name: "gone" }] }, [], origin).rows).toEqual([]);
  });
});

describe("the document of results", () => {
  const results = merged({ rows: [] }, [row, latency], origin);
  const marks = "<!-- results: written by npm run docs -->\nold\n<!-- end of results -->";
  const explained = {
    "cpu-store": { why: "It checks.", tried: "Nothing.", needed: "Less to check." },
    latency: { why: "It polls.", tried: "Less.", needed: "More." },
  };

  it("holds them between its marks, and nothing else changes", () => {
    const written = withResults(`before\n${marks}\nafter`, results, explained);
    expect(written).toMatch(/^before\n<!-- results[\s\S]*<!-- end of results -->\nafter$/);
    expect(written).toContain(
      "| `cpu-store` | µs | 20 | 50 (powertools) | 0.40 (0.25 to 0.5) | ≤ 0.5 | ok |",
    );
    expect(written).toContain("Measured on 2026-01-02 at abc1234: 2 cores; Node 24.");
    expect(written).not.toContain("old");
    expect(withResults(written, results, explained)).toBe(written);
  });

  it("says of rows that were measured at another time which they are", () => {
    const again = merged(results, [latency], { ...origin, date: "2026-02-03" });
    expect(withResults(marks, again, explained)).toContain(
      "on 2026-02-03 at abc1234: 2 cores; Node 24. Of then: `latency`.",
    );
  });

  it("says of a row that is short why, what was tried and what would be needed", () => {
    expect(withResults(marks, results, explained)).toContain(
      "`latency`: It polls. Tried: Less. Needed: More.",
    );
  });

  it("has a line for each thing that is paid for, with its sum", () => {
    const lines = [
      { name: "sqs", bySide: { ours: 1, powertools: 2, plain: 3, floor: 4 } },
      { name: "logs", bySide: { ours: 0.5, powertools: 0.5, plain: 0.5, floor: 0 } },
    ];
    const written = withResults(marks, merged({ rows: [] }, [{ ...row, lines }], origin), explained);
    expect(written).toContain("| sqs | 1.00 | 2.00 | 3.00 | 4.00 |");
    expect(written).toContain("| in all | 1.50 | 2.50 | 3.50 | 4.00 |");
  });

  it("is refused where it has no marks", () => {
    expect(() => withResults("nothing", results, explained)).toThrow("misses");
  });

  it("is drawn as an SVG with a point for each ratio, the same each time", () => {
    const svg = plotOf([row]);
    expect(svg).toMatch(/^<svg/);
    expect(svg).toContain(">cpu-store<");
    expect(svg.match(/<circle/g)).toHaveLength(2);
    expect(plotOf([row])).toBe(svg);
  });
});

describe("explanations of rows that are short", () => {
  const explanation = { why: "…", tried: "…", needed: "…" };

  it("are asked for where one is missing, and refused where the row is not short", () => {
    expect(unexplained([latency, duplicate(1)], {})).toEqual([expect.stringContaining("latency is short")]);
    expect(unexplained([latency], { latency: explanation })).toEqual([]);
    expect(unexplained([duplicate(1)], { "ddb-writes-duplicate": explanation })).toEqual([
      expect.stringContaining("ddb-writes-duplicate is not short"),
    ]);
  });
});

describe("the price file", () => {
  it("names its date and every price", () => {
    expect(readPrices()).toMatchObject({ currency: "USD", date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) });
  });
});
