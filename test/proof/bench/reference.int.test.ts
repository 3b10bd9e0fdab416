import { join } from "node:path";
import { expect, it } from "vitest";
import { rowNames } from "../../../proof/bench/measurements.ts";
import { readResults } from "../../../proof/bench/report/results.ts";
import { readShortfalls, unexplained } from "../../../proof/bench/report/shortfalls.ts";

const { rows } = readResults(join(import.meta.dirname, "../../../proof/bench/results/reference.json"));

it("each recorded row that is short says why, what was tried and what would be needed, and no other does", () => {
  expect(unexplained(rows, readShortfalls())).toEqual([]);
});

it("explanations are of rows that there are", () => {
  expect(Object.keys(readShortfalls()).filter((name) => !rowNames.includes(name))).toEqual([]);
});
