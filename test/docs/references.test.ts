import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createProgram } from "../../cli/program.ts";

const root = join(import.meta.dirname, "..", "..");
const pages = ["*.md", "proof/**/*.md", "docs/**/*.md", "packages/*/*.md"].flatMap((pattern) =>
  globSync(pattern, { cwd: root }),
);
const textOf = (page: string) => readFileSync(join(root, page), "utf8");
const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(textOf("package.json")));

describe("the documents", () => {
  it.each(pages)("link only to files that exist: %s", (page) => {
    const links = [...textOf(page).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, link = ""]) => link);
    const local = links.filter((link) => !/^[a-z]+:/.test(link));
    expect(local.filter((link) => !existsSync(join(root, dirname(page), link)))).toEqual([]);
  });

  it.each(pages)("name only scripts that exist: %s", (page) => {
    const named = [...textOf(page).matchAll(/npm run ([\w:-]+)/g)].map(([, name = ""]) => name);
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  });
});

describe("the page of commands", async () => {
  const page = textOf(join("docs", "reference", "commands.md"));
  const commands = (await createProgram()).commands.flatMap((group) =>
    group.commands.length === 0
      ? [group.name()]
      : group.commands.map((command) => `${group.name()} ${command.name()}`),
  );

  it.each(commands)("tells of each: %s", (command) => {
    expect(page).toContain(`\`${command}`);
  });
});

describe("the decision records", () => {
  const records = readdirSync(join(root, "docs", "adr")).sort();
  const numbers = records.map((record) => Number(record.slice(0, 4)));

  it("are numbered from 1 on, each number once, as their headings say", () => {
    expect(numbers).toEqual(records.map((_, index) => index + 1));
    for (const [index, record] of records.entries()) {
      expect(textOf(join("docs", "adr", record)), record).toMatch(new RegExp(`^# ${numbers[index]}\\. `));
    }
  });

  it.each(records)("refer to records that there are: %s", (record) => {
    const referred = [...textOf(join("docs", "adr", record)).matchAll(/\b(?:record|ADR) (\d+)/gi)];
    expect(
      referred.map(([, number]) => Number(number)).filter((number) => !numbers.includes(number)),
    ).toEqual([]);
  });
});
