import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { readCounts, recordCounts, typedCommand, withCounts } from "../../proof/records/counts.ts";
import { missingTests, rowsOf } from "../support/test-references.ts";

const rows = rowsOf("docs/evidence/promises.md", ["promise", "case", "command", "what was wrong"]);
const promises = rows.filter(([cell]) => cell?.startsWith("**"));
/** Cases that are forced, and what was mended. */
const others = rows.filter(([cell]) => !/^(\*\*|`npm)/.test(cell ?? ""));

describe("the page of promises", () => {
  it.each(promises)("names tests that exist for: %s", (_promise, _faults, tests = "") => {
    expect(missingTests(tests)).toEqual([]);
  });

  it.each(others)("names tests that exist, too, for: %s", (_what, _how, tests = "") => {
    expect(missingTests(tests)).toEqual([]);
  });

  it.each(promises)("says under which faults, and which horizon was lived through: %s", (...cells) => {
    expect(cells).toHaveLength(4);
    expect(cells.at(-1)).toMatch(/lived|modelled/);
  });

  it("has the last line of each suite as it was written down", () => {
    const directory = mkdtempSync(join(tmpdir(), "counts-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    recordCounts("chaos", "npm run chaos -- --seed 1", "chaos: lost 1", directory);
    recordCounts("chaos", "npm run chaos -- --seed 2", "chaos: lost 0", directory);
    const counts = readCounts(directory);
    expect(counts).toHaveLength(1);

    const page = withCounts(
      "before <!-- counts: written by npm run docs -->old<!-- end of counts --> after",
      counts,
    );
    expect(page).toMatch(
      /^before [\s\S]*\| `npm run chaos -- --seed 2` \| `chaos: lost 0` \| 20[\s\S]* after$/,
    );
    expect(page).not.toContain("old");
    expect(withCounts(page, counts)).toBe(page);
  });

  it("has the command as it was typed, without the wish to write it down", () => {
    expect(typedCommand("chaos", ["--seeds", "1..20", "--record"])).toBe("npm run chaos -- --seeds 1..20");
    expect(typedCommand("fuzz", ["--record"])).toBe("npm run fuzz");
  });

  it("is not written where it has no place for them", () => {
    expect(() => withCounts("no marks", [])).toThrow("docs/evidence/promises.md: misses");
  });
});
