import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..", "..");
const pages = ["*.md", "proof/**/*.md", "docs/**/*.md", "packages/*/*.md"].flatMap((pattern) =>
  globSync(pattern, { cwd: root }),
);
const textOf = (page: string) => readFileSync(join(root, page), "utf8");

/** Link targets of a page: its headings in GitHub's form, and its own anchors. */
function anchorsOf(page: string): ReadonlySet<string> {
  const text = textOf(page).replaceAll(/^```[\s\S]*?^```$/gm, "");
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );
  return new Set([...headings, ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = ""]) => id)]);
}

describe("a link of a document", () => {
  it.each(pages)("leads to a file and a heading that exist: %s", (page) => {
    const links = [...textOf(page).matchAll(/\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
    const broken = links.filter(([, file = "", anchor]) => {
      const target = file === "" ? page : join(dirname(page), file);
      if (!existsSync(join(root, target))) return true;
      return anchor !== undefined && target.endsWith(".md") && !anchorsOf(target).has(anchor);
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });
});
