import { cellsOf } from "./statements.ts";

export type TestName = { readonly file: string; readonly title: string };

/** A row of the conformance document: a statement, and what proves it. */
export type Row = {
  readonly statement: string;
  readonly tests: readonly TestName[];
  /** Why nothing is to be proven. */
  readonly reason?: string;
};

/** Reads rows `| statement | file › title <br> file › title |` or `| statement | nothing to keep: reason |`. */
export function parseRows(markdown: string): readonly Row[] {
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
