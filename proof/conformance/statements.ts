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
export function cellsOf(line: string): readonly string[] {
  return line.split("|").slice(1, -1).map(collapse);
}

function collapse(text: string): string {
  return text.trim().replace(/\s+/g, " ");
}
