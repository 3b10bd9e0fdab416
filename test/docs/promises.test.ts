import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { missingTests } from "../support/test-references.ts";

const page = readFileSync(join(import.meta.dirname, "../..", "docs/evidence/promises.md"), "utf8");
const [, promised = "", forced = ""] = page.split(/^## (?:The promises|Forced cases)$/m);
/** Text below each heading of level three. */
const sectionsOf = (text: string) =>
  text
    .split(/^### /m)
    .slice(1)
    .map((section) => ({ title: section.split("\n")[0] ?? "", section }));
const promises = sectionsOf(promised).filter(({ title }) => title !== "Not promised");
const cases = sectionsOf(forced);
/** One reference per line: - `test/a.test.ts` › a title */
const referencesOf = (text: string) =>
  [...text.matchAll(/^- (`test\/.*)$/gm)].map(([, reference = ""]) => reference);

describe("the page of promises", () => {
  it("has a heading for each promise and for each forced case", () => {
    expect(promises).toHaveLength(13);
    expect(cases).toHaveLength(17);
  });

  it.each([...promises, ...cases])("names tests that exist for: $title", ({ section }) => {
    const references = referencesOf(section);
    // At least one of them runs in continuous integration.
    expect(references.filter((reference) => !reference.includes(".proof.test.ts"))).not.toEqual([]);
    expect(references.flatMap(missingTests)).toEqual([]);
  });

  it.each(promises)("states how it is kept, under which faults, and in which time: $title", ({ section }) => {
    for (const label of ["Kept by", "Tried with", "Time"])
      expect(section).toMatch(new RegExp(`^- \\*\\*${label}:\\*\\* \\S`, "m"));
    expect(/^- \*\*Time:\*\* .*$/m.exec(section)?.[0]).toMatch(/in real time|simulated/);
  });
});
