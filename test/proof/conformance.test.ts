import { expect, test } from "vitest";
import { conformanceProblems } from "../../proof/conformance/problems.ts";
import { parseRows, parseStatements } from "../../proof/conformance/statements.ts";

const specification = `# The service
It answers.

| Method | Path |
|---|---|
| GET | /users/<id> |

Rules:
1. Retries continue.

Its limits: not shown.
`;

const complete = `| Statement | Proven by |
| --- | --- |
| It answers. | a.test.ts › answers |
| GET · /users/\\<id> | a.test.ts › answers <br> a.test.ts › shows a user |
| Retries continue. | b.test.ts › goes on |
| Its limits: not shown. | nothing to keep: it has none |
`;

const passed = [
  { file: "a.test.ts", title: "answers", status: "passed" },
  { file: "a.test.ts", title: "shows a user", status: "passed" },
  { file: "b.test.ts", title: "goes on", status: "passed" },
];

const problemsOf = (document: string, results = passed) =>
  conformanceProblems(parseStatements(specification), parseRows(document), results);

test("a complete document whose tests passed has no problem", () => {
  expect(problemsOf(complete)).toEqual([]);
});

test("statements are paragraphs, list items and rows, without heads and introductions", () => {
  expect(parseStatements(specification).map(({ text }) => text)).toEqual([
    "It answers.",
    "GET · /users/<id>",
    "Retries continue.",
    "Its limits: not shown.",
  ]);
});

test("a statement without a row is named", () => {
  const document = complete.replace(/.*Retries.*\n/, "");
  expect(problemsOf(document)).toEqual([
    '"Retries continue." (The service) has no row: add one with its tests',
  ]);
});

test("a row that the specification does not say is named", () => {
  expect(problemsOf(`${complete}| It sings. | a.test.ts › answers |\n`)).toEqual([
    expect.stringContaining('does not say "It sings."'),
  ]);
});

test("a test that does not exist is named", () => {
  const missing = passed.filter(({ title }) => title !== "goes on");
  expect(problemsOf(complete, missing)).toEqual([expect.stringContaining('no test "goes on" in b.test.ts')]);
});

test.each(["failed", "skipped", "pending", "todo"])("a test that is %s does not count", (status) => {
  const results = passed.map((result) => (result.title === "goes on" ? { ...result, status } : result));
  expect(problemsOf(complete, results)).toEqual([expect.stringContaining(`did not pass (${status})`)]);
});

test("a rule is not excused, nor is a row of a table that leaves one cell open", () => {
  const excused = complete.replace("b.test.ts › goes on", "nothing to keep: too hard");
  expect(problemsOf(excused)).toEqual([expect.stringContaining('"Retries continue." is a rule')]);
  const row = "| PUT · /hooks · not shown | nothing to keep: open |\n";
  expect(problemsOf(complete + row)).toContain(
    '"PUT · /hooks · not shown" is a rule: name the test that proves it',
  );
});
