import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createProgram } from "../../packages/cli/program.ts";
import { readAlarm } from "../../scripts/documents/template-alarms.ts";
import { productionSettings, synthesized } from "../lib/synthesized.ts";

const root = join(import.meta.dirname, "..", "..");
const page = readFileSync(join(root, "docs", "operate", "runbook.md"), "utf8");
const entries = page
  .split(/^### /m)
  .slice(1)
  .map((text) => ({ heading: text.split("\n")[0] ?? "", text: text.split(/^## /m)[0] ?? "" }));
/** As GitHub makes a link of a heading. */
const anchorOf = (heading: string) => heading.toLowerCase().replaceAll(" ", "-");
const alarms = synthesized(productionSettings)
  .ofType("AWS::CloudWatch::Alarm")
  .map(({ id, Properties }) => readAlarm(id, Properties));
const commands = (await createProgram()).commands.flatMap((group) =>
  group.commands.length === 0
    ? [{ name: group.name(), options: group.options }]
    : group.commands.map((command) => ({
        name: `${group.name()} ${command.name()}`,
        options: command.options,
      })),
);

describe("the runbook", () => {
  it("has an entry for each alarm, and no other", () => {
    const reported = new Set(alarms.map(({ entry }) => entry));
    expect(entries.map(({ heading }) => anchorOf(heading)).sort()).toEqual([...reported].sort());
  });

  it.each(entries)("says what it means and shows what to type: $heading", ({ text }) => {
    const [, meaning = ""] = text.split("\n\n");
    expect(meaning.length).toBeGreaterThan(60);
    expect(text).toMatch(/```sh\n(npx|aws|npm) [\s\S]+?```/);
  });

  it("types commands that there are, with options that they know", () => {
    const typed = [...page.matchAll(/npx income-events ([a-z][^\n#<]*)/g)].map(([, line = ""]) =>
      line.trim(),
    );
    const described = alarms.flatMap(
      ({ description }) => /npx income-events ([a-z][^<]*)/.exec(description)?.[1] ?? [],
    );
    expect(typed.length).toBeGreaterThan(30);
    for (const line of [...typed, ...described]) {
      const found = commands.find(({ name }) => line === name || line.startsWith(`${name} `));
      expect(found, line).toBeDefined();
      const known = ["--help", "--outputs", ...(found?.options ?? []).map(({ long }) => long)];
      const named = [...line.matchAll(/--[a-z-]+/g)].map(([option]) => option);
      expect(
        named.filter((option) => !known.includes(option)),
        line,
      ).toEqual([]);
    }
  });

  it("names settings that are documented", () => {
    const settings = readFileSync(join(root, "docs", "reference", "settings.md"), "utf8");
    const pattern =
      /`((?:alarms|fetch|provider|webhooks|relay|token|reconcile|retention|functions)\.[a-zA-Z.]+)`/g;
    const named = [...page.matchAll(pattern)].map(([, name = ""]) => name);
    const isNotified = (name: string) =>
      settings.includes(`\`${name}`) ||
      settings.includes(name) ||
      settings.includes(`.${name.split(".").at(-1)}`);
    expect(named.filter((name) => !isNotified(name))).toEqual([]);
  });

  it("is what each alarm's link leads to, and is linked from the front page", () => {
    expect(globSync("docs/operate/runbook.md", { cwd: root })).toEqual(["docs/operate/runbook.md"]);
    expect(readFileSync(join(root, "README.md"), "utf8")).toContain("(docs/operate/runbook.md)");
  });
});
