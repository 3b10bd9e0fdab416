import { expect, test } from "vitest";
import { missingTests, rowsOf } from "../../support/test-references.ts";

const rows = rowsOf("docs/reference/local-semantics.md", ["rule of AWS", "limit of AWS"]);

test("every rule that is said to be kept names tests that exist", () => {
  expect(rows.length).toBeGreaterThan(50);
  const missing = rows
    .filter(([, how]) => how !== "not")
    .flatMap(([rule, , tests = ""]) => missingTests(tests).map((name) => `${rule}: ${name}`));
  expect(missing).toEqual([]);
});
