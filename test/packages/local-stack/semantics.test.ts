import { expect, test } from "vitest";
import { missingTests, rowsOf } from "../../support/test-references.ts";

const heads = ["rule of AWS", "limit of AWS"];
const rows = rowsOf("docs/reference/local-semantics.md", heads);
const limits = rowsOf("docs/reference/local-semantics.md", heads, "## What can end a deployment");

/** Where the tests are of what keeps a limit. */
const testsOf = new Map([
  ["runner", /^test\/(packages\/local-stack|e2e)\//],
  ["synth", /^test\/lib\//],
  ["preflight", /^test\/packages\/cli\/preflight\//],
  ["doctor", /^test\/packages\/cli\/doctor\//],
]);

/** What the runner keeps at least. */
const keptByRunner = [
  /a chain of requests invokes a function 16 times/,
  /of a throttled function are received in vain/,
  /executions at once of all functions of an account/,
  /of an invocation that waits have 6 MB/,
  /an asynchronous invocation has 1 MiB/,
  /environment of a function has 4 KB/,
  /a message has 1 MiB/,
  /an item has 400 KB, a page 1 MB/,
  /a batch has 25 statements/,
  /120,000 messages in flight/,
  /hidden for 12 hours at a time/,
  /a delay is 15 minutes/,
  /a stream keeps its records for 24 hours/,
  /a group of a FIFO queue waits/,
];
const isNotKept = ([, how]: readonly string[]): boolean => how === "not";

test("every rule that is said to be kept names tests that exist", () => {
  expect(rows.length).toBeGreaterThan(50);
  const missing = rows
    .filter((row) => !isNotKept(row))
    .flatMap(([rule, , tests = ""]) => missingTests(tests).map((name) => `${rule}: ${name}`));
  expect(missing).toEqual([]);
});

test("every limit of AWS is kept by what its tests are of", () => {
  for (const [limit = "", by = "", tests = ""] of limits) {
    if (by === "not") continue;
    const files = [...tests.matchAll(/`(test\/[^`]+)`/g)].map(([, file = ""]) => file);
    for (const each of by.split(", ")) {
      const place = testsOf.get(each);
      expect(
        files.some((file) => place?.test(file)),
        `${limit}: ${each}`,
      ).toBe(true);
    }
  }
});

test.each(keptByRunner)("the runner keeps a limit of AWS that ends events: %s", (limit) => {
  const found = limits.filter(([name = ""]) => limit.test(name));
  expect(found.map(([, by = ""]) => by.split(", ").includes("runner"))).toEqual([true]);
});

test("every limit of AWS that is not kept says why that is borne", () => {
  const reasons = rows.filter(isNotKept).map(([, , reason = ""]) => reason);
  expect(reasons.length).toBeGreaterThan(10);
  for (const reason of reasons) expect(reason).toMatch(/^[A-Z].*\.$/);
});
