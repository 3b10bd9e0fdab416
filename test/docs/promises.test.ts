import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { readCounts, recordCounts, typedCommand, withCounts } from "../../proof/records/counts.ts";
import { missingTests } from "../support/test-references.ts";

const page = readFileSync(join(import.meta.dirname, "../..", "docs/evidence/promises.md"), "utf8");
const [, promised = "", forced = "", found = ""] = page.split(
  /^## (?:The promises|Forced cases|Last counts)$/m,
);
/** What stands below each heading of the third level. */
const sectionsOf = (text: string) =>
  text
    .split(/^### /m)
    .slice(1)
    .map((section) => ({ title: section.split("\n")[0] ?? "", section }));
const promises = sectionsOf(promised).filter(({ title }) => title !== "Not promised");
const cases = sectionsOf(forced);
/** One reference a line: - `test/a.test.ts` › a title */
const referencesOf = (text: string) =>
  [...text.matchAll(/^- (`test\/.*)$/gm)].map(([, reference = ""]) => reference);
const faults = found.split(/^## Found and fixed$/m)[1]?.match(/^[A-Z].* Found by [\s\S]*?(?=\n\n)/gm) ?? [];

describe("the page of promises", () => {
  it("has a heading for each promise and for each forced case", () => {
    expect(promises).toHaveLength(13);
    expect(cases).toHaveLength(17);
    expect(faults).toHaveLength(9);
  });

  it.each([...promises, ...cases])("names tests that exist for: $title", ({ section }) => {
    const references = referencesOf(section);
    // Continuous integration runs one of them at least.
    expect(references.filter((reference) => !reference.includes(".proof.test.ts"))).not.toEqual([]);
    expect(references.flatMap(missingTests)).toEqual([]);
  });

  it("names a test that exists for each fault that was fixed", () => {
    const references = referencesOf(found);
    expect(references.length).toBeGreaterThanOrEqual(faults.length);
    expect(references.flatMap(missingTests)).toEqual([]);
  });

  it.each(promises)("says how it is kept, under which faults, and in which time: $title", ({ section }) => {
    for (const label of ["Kept by", "Tried with", "Time"])
      expect(section).toMatch(new RegExp(`^- \\*\\*${label}:\\*\\* \\S`, "m"));
    expect(/^- \*\*Time:\*\* .*$/m.exec(section)?.[0]).toMatch(/in real time|simulated/);
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
    expect(typedCommand("fuzz", ["--record"])).toBe("npm run proof -- fuzz");
  });

  it("is not written where it has no place for them", () => {
    expect(() => withCounts("no marks", [])).toThrow("docs/evidence/promises.md: misses");
  });
});
