import { expect, test } from "vitest";
import { missingTests, rowsOf } from "../../support/test-references.ts";

const rows = rowsOf("docs/reference/local-semantics.md", ["rule of AWS", "limit of AWS"]);
const isNotKept = ([, how]: readonly string[]): boolean => how === "not";

test("every rule that is said to be kept names tests that exist", () => {
  expect(rows.length).toBeGreaterThan(50);
  const missing = rows
    .filter((row) => !isNotKept(row))
    .flatMap(([rule, , tests = ""]) => missingTests(tests).map((name) => `${rule}: ${name}`));
  expect(missing).toEqual([]);
});

test("every limit of AWS that is not kept says why that is borne", () => {
  const reasons = rows.filter(isNotKept).map(([, , reason = ""]) => reason);
  expect(reasons.length).toBeGreaterThan(10);
  for (const reason of reasons) expect(reason).toMatch(/^[A-Z].*\.$/);
});
