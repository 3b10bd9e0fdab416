import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { missingTests } from "../../support/test-references.ts";

test("every rule of AWS that is said to be kept names tests that exist", () => {
  const rows = readFileSync("docs/reference/local-semantics.md", "utf8")
    .split("\n")
    .filter((line) => /^\| (?!(rule|limit) of AWS)/.test(line))
    .map((line) => line.split(" | ").map((cell) => cell.replace(/^\| | \|$/g, "")));
  expect(rows.length).toBeGreaterThan(50);
  const missing = rows
    .filter(([, how]) => how !== "not")
    .flatMap(([rule, , tests = ""]) => missingTests(tests).map((name) => `${rule}: ${name}`));
  expect(missing).toEqual([]);
});
