/** One thing that the specification says: a table's row, an item of a list, or a paragraph. */
export type Statement = { readonly section: string; readonly text: string };

/** Reads the statements of a Markdown text. Cells of a row are joined by " · ". */
export function parseStatements(markdown: string): readonly Statement[] {
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

/** Whether a line is more than a gap, a table's head or what introduces a list ("Rules:"). */
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

/** The cells of a table's row, without their padding. */
function cellsOf(line: string): readonly string[] {
  return line.split("|").slice(1, -1).map(collapse);
}

function collapse(text: string): string {
  return text.trim().replace(/\s+/g, " ");
}

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
