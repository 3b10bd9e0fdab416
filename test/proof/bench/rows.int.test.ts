import { describe, expect, it } from "vitest";
import { measurementsOf, rowNames } from "../../../proof/bench/measurements.ts";
import { withRows } from "../../../proof/bench/page.ts";
import { linesOf, rowOf } from "../../../proof/bench/rows/row.ts";

const row = rowOf(
  "cpu-store",
  "µs",
  [10, 20, 30],
  [
    { over: "powertools", atMost: 0.5, values: [40, 50, 60] },
    { over: "floor", atLeast: 3, values: [10, 10, 10] },
  ],
);
const latency = (value: number) => rowOf("latency", "p99 over p50", [value], [{ atMost: 3 }]);

describe("a row of the benchmark", () => {
  it("is the median ratio of pairs with its goal, in a line for each peer", () => {
    expect(linesOf(row)).toEqual(["cpu-store/powertools 0.40 ≤0.5 ok", "cpu-store/floor 2.00 ≥3 short"]);
    expect(linesOf(latency(3.5))).toEqual(["latency 3.50 ≤3 short"]);
  });

  it("meets an exact goal with that number alone", () => {
    const duplicates = (units: number) => rowOf("ddb-writes-duplicate", "units", [units], [{ exactly: 1 }]);
    expect(linesOf(duplicates(1))).toEqual(["ddb-writes-duplicate 1.00 =1 ok"]);
    expect(linesOf(duplicates(0.99))).toEqual(["ddb-writes-duplicate 0.99 =1 short"]);
  });

  it("shows as many digits as show on which side of the goal it is", () => {
    const nearly = rowOf("price", "$", [2.002], [{ over: "plain", atMost: 1, values: [2] }]);
    expect(linesOf(nearly)).toEqual(["price/plain 1.001 ≤1 short"]);
  });
});

describe("the rows that are asked for", () => {
  it("are measured with those of the same run, and no others", () => {
    expect(measurementsOf(["latency"]).flatMap(({ rows }) => rows)).toEqual(["rate", "latency"]);
    expect(measurementsOf(rowNames).flatMap(({ rows }) => rows)).toEqual(rowNames);
  });

  it("are refused where there is no such row", () => {
    expect(() => measurementsOf(["cpu-store", "speed"])).toThrow(
      "speed: no such row; choose of ddb-writes-0",
    );
  });
});

describe("recorded results", () => {
  const empty = "before\n<!-- npm run bench: results -->\n<!-- end -->\nafter";

  it("replace the rows of the same names and keep the others, in the benchmark's order", () => {
    const first = withRows(empty, [latency(2), row], "2026-01-02, abc1234");
    const page = withRows(first, [latency(4)], "2026-02-03, def5678");
    const lines = page.split("\n").filter((line) => line.startsWith("| `"));
    expect(lines).toEqual([
      "| `cpu-store` | µs | 20 | 50 (powertools) | 0.40 | ≤ 0.5 | ok | 3 | 2026-01-02, abc1234 |",
      "| `cpu-store` | µs | 20 | 10 (floor) | 2.00 | ≥ 3 | **short** | 3 | 2026-01-02, abc1234 |",
      "| `latency` | p99 over p50 | 4 |  |  | ≤ 3 | **short** | 1 | 2026-02-03, def5678 |",
    ]);
    expect(page).toMatch(/^before\n[\s\S]*\nafter$/);
  });
});
