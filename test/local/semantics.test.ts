import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const root = new URL("../../", import.meta.url);
const document = readFileSync(new URL("docs/local-semantics.md", root), "utf8");
const rows = document
  .split("\n")
  .filter((line) => line.startsWith("| ") && !line.startsWith("| rule of AWS"))
  .map((line) => line.split(" | ").map((cell) => cell.replace(/^\| | \|$/g, "")));

test("every rule that is said to be kept names tests that exist", () => {
  expect(rows.length).toBeGreaterThan(50);
  const missing = rows.flatMap(([rule, , tests = ""]) => {
    const references = tests.split(/; (?=`test\/)/).map((text) => /^`(test\/[^`]+)` › (.+)$/.exec(text));
    return references.flatMap((reference) => {
      const [, path = "", names = ""] = reference ?? [];
      const file = new URL(path, root);
      if (reference === null || !existsSync(file)) return [`${rule}: ${tests}`];
      const source = readFileSync(file, "utf8");
      // A name may itself hold a semicolon.
      if (source.includes(names)) return [];
      return names.split("; ").filter((name) => !source.includes(name));
    });
  });
  expect(missing).toEqual([]);
});
