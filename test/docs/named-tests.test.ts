import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { missingTests } from "../support/test-references.ts";

const docs = join(import.meta.dirname, "../../docs");
const linesOf = (page: string) => readFileSync(join(docs, page), "utf8").split("\n");
const collapse = (text: string) => text.trim().replace(/\s+/g, " ");
// A code of a filter pattern may contain an escaped bar. Markdown takes an unescaped "<" for the start of a tag.
const cellsOf = (row: string) =>
  row
    .replaceAll("\\<", "<")
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map(collapse);
const isRuler = (line = "") => /^ *\|[\s:|-]+\|$/.test(line);

/** Cells of the rows of a page's tables, without their headings. */
const rowsOf = (page: string) =>
  linesOf(page)
    .filter((line, index, lines) => line.startsWith("|") && !isRuler(line) && !isRuler(lines[index + 1]))
    .map(cellsOf);

/** Statements of a page: rows of tables, items of lists, and paragraphs. Cells of a row are joined by " · ". */
function statementsIn(page: string): readonly string[] {
  return linesOf(page)
    .map((line) => line.trim())
    .filter((line, index, lines) => !isRuler(line) && !isRuler(lines[index + 1]))
    .filter((line) => line !== "" && !line.startsWith("#") && !line.endsWith(":"))
    .map((line) =>
      line.startsWith("|") ? cellsOf(line).join(" · ") : collapse(line.replace(/^(\d+\.|-) /, "")),
    );
}

const conformance = rowsOf("reference/sandbox-conformance.md");

it("the sandbox's conformance has a row for each statement of the interface, and no other", () => {
  const pages = ["income-data-service.md", "income-data-service-0.5.md"];
  const statements = pages.flatMap((name) => statementsIn(`reference/provider/${name}`));
  expect(new Set(conformance.map(([statement]) => statement))).toEqual(new Set(statements));
  const excused = conformance.filter(([, proof = ""]) => proof.startsWith("nothing to keep: "));
  const left = excused.filter(([statement = ""]) => !/^This document|^(?!.* · ).*not shown/.test(statement));
  expect(left).toEqual([]);
});

it.each<[string, readonly string[]]>([
  [
    "the sandbox's conformance",
    conformance
      .flatMap(([, proof = ""]) => (proof.startsWith("nothing to keep: ") ? [] : proof.split(/ *<br> */)))
      .map((test) => test.replace(/^(\S+) ›/, "`test/packages/sandbox/$1` ›")),
  ],
  [
    "the rules of AWS that the local runner keeps",
    rowsOf("reference/local-semantics.md").flatMap(([, how, tests = ""]) => (how === "not" ? [] : [tests])),
  ],
  [
    "the promises",
    linesOf("evidence/promises.md").flatMap((line) => /^- (`test\/.*)$/.exec(line)?.[1] ?? []),
  ],
])("names tests that exist: %s", (_, references) => {
  expect(references.length).toBeGreaterThan(50);
  expect(references.flatMap(missingTests)).toEqual([]);
});

it("each promise and each forced case has a test that runs in continuous integration", () => {
  const [, ...sections] = linesOf("evidence/promises.md").join("\n").split(/^### /m);
  const named = sections.filter((section) => !section.startsWith("Not promised"));
  expect(named.filter((section) => !/^- `test\/(?!.*\.proof\.test\.ts)/m.test(section))).toEqual([]);
});
