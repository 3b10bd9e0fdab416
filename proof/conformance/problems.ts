import type { Row, Statement, TestName } from "./statements.ts";

export type TestResult = { readonly file: string; readonly title: string; readonly status: string };

/** What is wrong with the conformance document: a text for each problem, with its remedy. */
export function conformanceProblems(
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

/** Only what the specification leaves open, or says about itself, needs no test. */
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
