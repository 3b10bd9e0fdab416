/**
 * Checks docs/reference/sandbox-conformance.md: each statement of both interface versions has a row, each row
 * names tests, and each of these tests exists, ran and passed. With `--listed` it runs none, and checks only
 * that each exists and is not skipped: `npm test` and `npm run proof` run them.
 */
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { createVitest, type TestCase } from "vitest/node";

/** A statement of the specification: a table's row, a list item, or a paragraph. */
type Statement = { readonly section: string; readonly text: string };

/** Parses the statements of a Markdown text. Cells of a row are joined by " · ". */
function parseStatements(markdown: string): readonly Statement[] {
  const statements: Statement[] = [];
  let section = "";
  const lines = markdown.split("\n").map((line) => line.trim());
  for (const [index, line] of lines.entries()) {
    const heading = /^#+ (.*)$/.exec(line)?.[1];
    if (heading !== undefined) section = heading;
    else if (saysSomething(lines, index)) statements.push({ section, text: textOf(line) });
  }
  return statements;
}

/** Whether a line is a statement rather than a gap, a table's head or a list's introduction ("Rules:"). */
function saysSomething(lines: readonly string[], index: number): boolean {
  const line = lines[index] ?? "";
  return line !== "" && !line.endsWith(":") && !isTableHead(lines, index);
}

const ruler = /^\|[\s:|-]+\|$/;

function isTableHead(lines: readonly string[], index: number): boolean {
  return ruler.test(lines[index] ?? "") || ruler.test(lines[index + 1] ?? "");
}

function textOf(line: string): string {
  if (!line.startsWith("|")) return collapse(line.replace(/^(\d+\.|-) /, ""));
  return cellsOf(line).join(" · ");
}

/** Cells of a table's row, trimmed. */
function cellsOf(line: string): readonly string[] {
  return line.split("|").slice(1, -1).map(collapse);
}

function collapse(text: string): string {
  return text.trim().replace(/\s+/g, " ");
}

type TestName = { readonly file: string; readonly title: string };

/** A row of the conformance document: a statement and its tests. */
type Row = {
  readonly statement: string;
  readonly tests: readonly TestName[];
  /** Why the statement needs no test. */
  readonly reason?: string;
};

/**
 * Parses rows `| statement | file › title <br> file › title |` or `| statement | nothing to keep: reason |`.
 */
function parseRows(markdown: string): readonly Row[] {
  return markdown
    .split("\n")
    .filter((line) => line.startsWith("|") && !/^\|[\s:|-]+\|$/.test(line) && !/^\| Statement +\|/.test(line))
    .map(parseRow);
}

function parseRow(line: string): Row {
  // Markdown takes an unescaped "<" for the start of a tag.
  const [statement = "", proof = ""] = cellsOf(line).map((cell) => cell.replaceAll("\\<", "<"));
  const reason = /^nothing to keep: (.+)$/.exec(proof)?.[1];
  if (reason !== undefined) return { statement, tests: [], reason };
  return { statement, tests: proof.split(/ *<br> */).map(parseTest) };
}

function parseTest(text: string): TestName {
  const [file = "", ...title] = text.split(" › ");
  return { file, title: title.join(" › ") };
}

type TestResult = { readonly file: string; readonly title: string; readonly status: string };

/** Problems of the conformance document, one text each with the remedy. */
function conformanceProblems(
  statements: readonly Statement[],
  rows: readonly Row[],
  results: readonly TestResult[],
): readonly string[] {
  const stated = new Set(statements.map(({ text }) => text));
  const listed = new Set(rows.map(({ statement }) => statement));
  return [
    ...statements
      .filter(({ text }) => !listed.has(text))
      .map(({ section, text }) => `"${text}" (${section}) has no row: add one with its tests`),
    ...rows
      .filter(({ statement }) => !stated.has(statement))
      .map(({ statement }) => `the specification does not say "${statement}": correct or remove the row`),
    ...rows.flatMap((row) => rowProblems(row, results)),
  ];
}

function rowProblems(row: Row, results: readonly TestResult[]): readonly string[] {
  if (row.reason !== undefined) return excuseProblems(row);
  return row.tests.flatMap((test) => testProblems(row, test, results));
}

/** Only statements that the specification leaves open, or about itself, need no test. */
function excuseProblems({ statement }: Row): readonly string[] {
  const isOpen = statement.includes("not shown") && !statement.includes(" · ");
  if (isOpen || statement.startsWith("This document")) return [];
  return [`"${statement}" is a rule: name the test that proves it`];
}

function testProblems({ statement }: Row, { file, title }: TestName, results: readonly TestResult[]) {
  const found = results.filter((result) => result.file === file && result.title === title);
  if (found.length === 0) return [`"${statement}": there is no test "${title}" in ${file}`];
  return found
    .filter(({ status }) => status !== "passed")
    .map(({ status }) => `"${statement}": the test "${title}" in ${file} did not pass (${status})`);
}

const specifications = ["income-data-service.md", "income-data-service-0.5.md"];
const conformance = "docs/reference/sandbox-conformance.md";
const isListed = process.argv[2] === "--listed";

/**
 * Runs the sandbox's tests alone.
 * @throws if a file cannot be read
 */
async function testResults(): Promise<readonly TestResult[]> {
  const vitest = await createVitest("test", {
    config: false,
    watch: false,
    include: ["test/packages/sandbox/**/*.test.ts"],
    // No statement depends on these alone, and not every machine has a browser.
    exclude: ["test/packages/sandbox/**/*-browser.proof.test.ts"],
    testTimeout: 20_000,
    ...(isListed && { isolate: false, reporters: [] }),
  });
  try {
    const { testModules, unhandledErrors } = isListed
      ? await vitest.collect([], { staticParse: false })
      : await vitest.start();
    const errors = [...unhandledErrors, ...testModules.flatMap((module) => module.errors())];
    if (errors.length > 0) throw new AggregateError(errors, "the sandbox's tests can't be read");
    return testModules.flatMap((module) => [...module.children.allTests()].map(resultOf));
  } finally {
    await vitest.close();
  }
}

/** Result of a listed test: one that would run counts as passed. */
function resultOf(test: TestCase): TestResult {
  const { mode = "run" } = test.options;
  const listed = mode === "run" ? "passed" : mode;
  const status = isListed ? listed : test.result().state;
  return { file: basename(test.module.moduleId), title: test.name, status };
}

const texts = specifications.map((name) => readFile(`docs/reference/provider/${name}`, "utf8"));
const statements = (await Promise.all(texts)).flatMap(parseStatements);
const rows = parseRows(await readFile(conformance, "utf8"));
const problems = conformanceProblems(statements, rows, await testResults());
for (const problem of problems) process.stderr.write(`${conformance}: ${problem}\n`);
process.stdout.write(`${statements.length} statements, ${rows.length} rows, ${problems.length} problems\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
