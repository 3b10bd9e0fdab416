import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { missingTests } from "../support/test-references.ts";

const reference = join(import.meta.dirname, "../../docs/reference");
const linesOf = (page: string) => readFileSync(join(reference, page), "utf8").split("\n");
const collapse = (text: string) => text.trim().replace(/\s+/g, " ");
const cellsOf = (row: string) => row.split("|").slice(1, -1).map(collapse);
const isRuler = (line = "") => /^ *\|[\s:|-]+\|$/.test(line);

/** Statements of a page: rows of tables, items of lists, and paragraphs. Cells of a row are joined by " · ". */
function statementsIn(page: string): readonly string[] {
  const lines = linesOf(page).map((line) => line.trim());
  return lines
    .filter((line, index) => !isRuler(line) && !isRuler(lines[index + 1]))
    .filter((line) => line !== "" && !line.startsWith("#") && !line.endsWith(":"))
    .map((line) =>
      line.startsWith("|") ? cellsOf(line).join(" · ") : collapse(line.replace(/^(\d+\.|-) /, "")),
    );
}

const statements = ["income-data-service.md", "income-data-service-0.5.md"].flatMap((name) =>
  statementsIn(`provider/${name}`),
);
const rows = linesOf("sandbox-conformance.md")
  .filter((line) => line.startsWith("|") && !isRuler(line) && !line.startsWith("| Statement |"))
  // Markdown takes an unescaped "<" for the start of a tag.
  .map((line) => cellsOf(line.replaceAll("\\<", "<")))
  .map(([statement = "", proof = ""]) => ({ statement, proof }));
const needsNone = (statement: string) =>
  statement.startsWith("This document") || (statement.includes("not shown") && !statement.includes(" · "));

describe("the sandbox's conformance", () => {
  it("has a row for each statement of the interface, and no other", () => {
    expect([...new Set(rows.map(({ statement }) => statement))].sort()).toEqual(
      [...new Set(statements)].sort(),
    );
  });

  it("names a test for each rule, and leaves out only what the interface leaves open", () => {
    const excused = rows.filter(({ proof }) => proof.startsWith("nothing to keep: "));
    expect(excused.filter(({ statement }) => !needsNone(statement))).toEqual([]);
    const missing = rows
      .filter((row) => !excused.includes(row))
      .flatMap(({ proof }) => proof.split(/ *<br> */))
      .map((test) => test.replace(/^(\S+) ›/, "`test/packages/sandbox/$1` ›"))
      .flatMap(missingTests);
    expect(missing).toEqual([]);
  });
});
