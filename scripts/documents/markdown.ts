/**
 * A Markdown table.
 * @param numbersFrom first right-aligned column; none by default
 */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  numbersFrom = head.length,
): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rule = head.map((_, column) => (column < numbersFrom ? "---" : "---:")).join("|");
  return [line(head), `|${rule}|`, ...rows.map(line)].join("\n");
}

/** Formats dollars with the significant digits only. */
export function dollars(amount: number): string {
  if (amount === 0) return "0";
  const digits = amount < 0.01 ? 4 : amount < 1_000 ? 2 : 0;
  return amount.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** A count, rounded to a number of significant digits. */
export function about(count: number, digits = 3): string {
  return count.toLocaleString("en", { maximumSignificantDigits: digits });
}

/** Start marker of a generated block, which ends at `<!-- end -->`. */
export const beginOf = (name: string, program: "docs" | "bench" = "docs") =>
  `<!-- npm run ${program}: ${name} -->\n`;

/**
 * Replaces a page's generated blocks.
 * @throws if the page lacks the marker of one
 */
export function withBlocks(
  page: string,
  blocks: Readonly<Record<string, string>>,
  program?: "docs" | "bench",
): string {
  return Object.entries(blocks).reduce((text, [name, block]) => {
    const begin = beginOf(name, program);
    const [before, rest] = text.split(begin);
    const end = rest?.indexOf("<!-- end -->") ?? -1;
    if (rest === undefined || end < 0) throw new Error(`the page has no place for: ${name}`);
    return `${before}${begin}\n${block}\n\n${rest.slice(end)}`;
  }, page);
}
