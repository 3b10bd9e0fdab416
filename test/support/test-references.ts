import { existsSync, readFileSync } from "node:fs";

const root = new URL("../../", import.meta.url);

/**
 * The rows of a page's tables, by cells; the heads of tables, which begin with one of `heads`, are left out.
 * @param from what stands before them: a heading
 */
export function rowsOf(page: string, heads: readonly string[], from = ""): readonly (readonly string[])[] {
  const text = readFileSync(new URL(page, root), "utf8");
  return text
    .slice(text.indexOf(from))
    .split("\n")
    .filter((line) => line.startsWith("| ") && !heads.some((head) => line.startsWith(`| ${head}`)))
    .map((line) => line.split(" | ").map((cell) => cell.replace(/^\| | \|$/g, "")));
}

/** What of a cell, `test/a.test.ts` › a title; another title; `test/b.test.ts` › a title, names no test that exists. */
export function missingTests(cell: string): readonly string[] {
  const references = cell.split(/; (?=`test\/)/).map((text) => /^`(test\/[^`]+)` › (.+)$/.exec(text));
  return references.flatMap((reference) => {
    const [, path = "", names = ""] = reference ?? [];
    const file = new URL(path, root);
    if (reference === null || !existsSync(file)) return [cell];
    const source = readFileSync(file, "utf8");
    // A name may itself hold a semicolon.
    if (source.includes(names)) return [];
    return names.split("; ").filter((name) => !source.includes(name));
  });
}
