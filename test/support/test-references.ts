import { existsSync, readFileSync } from "node:fs";

const root = new URL("../../", import.meta.url);

/**
 * Names in a cell (`test/a.test.ts` › a title; another title; `test/b.test.ts` › a title) that match no test.
 */
export function missingTests(cell: string): readonly string[] {
  const references = cell.split(/; (?=`test\/)/).map((text) => /^`(test\/[^`]+)` › (.+)$/.exec(text));
  return references.flatMap((reference) => {
    const [, path = "", names = ""] = reference ?? [];
    const file = new URL(path, root);
    if (reference === null || !existsSync(file)) return [cell];
    const source = readFileSync(file, "utf8");
    // A name may contain a semicolon.
    if (source.includes(names)) return [];
    return names.split("; ").filter((name) => !source.includes(name));
  });
}
