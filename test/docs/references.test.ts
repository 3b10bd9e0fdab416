import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createProgram } from "../../packages/cli/program.ts";

const root = join(import.meta.dirname, "..", "..");
const pages = ["*.md", "proof/**/*.md", "docs/**/*.md", "packages/*/*.md"].flatMap((pattern) =>
  globSync(pattern, { cwd: root }),
);
const textOf = (page: string) => readFileSync(join(root, page), "utf8");
const scriptsOf = (folder: string) =>
  z
    .object({ scripts: z.record(z.string(), z.string()) })
    .parse(JSON.parse(textOf(join(folder, "package.json")))).scripts;
/** Those of the clone, and of the app that `init` writes. */
const scripts = { ...scriptsOf("examples/minimal"), ...scriptsOf(".") };

/** What a link to a part of a page may name: headings as GitHub makes links of them, and anchors of its own. */
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

describe("the documents", () => {
  it.each(pages)("link only to files that exist: %s", (page) => {
    const links = [...textOf(page).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, link = ""]) => link);
    const local = links.filter((link) => !/^[a-z]+:/.test(link));
    expect(local.filter((link) => !existsSync(join(root, dirname(page), link)))).toEqual([]);
  });

  it.each(pages)("link only to headings that exist: %s", (page) => {
    const links = [...textOf(page).matchAll(/\]\((?![a-z]+:)([^)#\s]*)#([^)\s]+)\)/g)];
    const missing = links.filter(([, file = "", anchor = ""]) => {
      const target = file === "" ? page : join(dirname(page), file);
      return target.endsWith(".md") && !anchorsOf(target).has(anchor);
    });
    expect(missing.map(([link]) => link)).toEqual([]);
  });

  it.each(pages)("name only scripts that exist: %s", (page) => {
    const named = [...textOf(page).matchAll(/npm run ([\w:-]+)/g)].map(([, name = ""]) => name);
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  });
});

describe("the threat model", () => {
  const threats = textOf(join("docs", "evidence", "security.md"));
  const named = [...new Set([...threats.matchAll(/`(test\/[^`]+)`/g)].map(([, file = ""]) => file))];

  it.each(named)("names a test that there is: %s", (file) => {
    expect(existsSync(join(root, file))).toBe(true);
  });

  it("names a test, a command or a target of the fuzzer for each threat", () => {
    const [, table = ""] = /## Threats\n\n([\s\S]*?)\n\n/.exec(threats) ?? [];
    const [, , ...rows] = table.split("\n");
    expect(rows.length).toBeGreaterThan(15);
    expect(rows.filter((row) => !/`(test\/|npm run )|target `/.test(row.split("|").at(-2) ?? ""))).toEqual(
      [],
    );
  });
});

describe("the page of commands", async () => {
  const page = textOf(join("docs", "reference", "commands.md"));
  const commands = (await createProgram()).commands.flatMap((group) =>
    group.commands.length === 0
      ? [group.name()]
      : group.commands.map((command) => `${group.name()} ${command.name()}`),
  );

  it.each(commands)("describes each: %s", (command) => {
    expect(page).toContain(`\`${command}`);
  });
});

describe("the decision records", () => {
  const directory = join("docs", "adr");
  const records = readdirSync(join(root, directory))
    .filter((file) => file !== "README.md")
    .sort();
  const numbers = records.map((record) => Number(record.slice(0, 4)));
  const [subjects = "", merged = ""] = textOf(join(directory, "README.md")).split("## Merged");
  const rowsOf = (text: string) =>
    [...text.matchAll(/^\| \[?(\d+)\b[^|]*\|/gm)].map(([, number]) => Number(number));

  it("have each number once, as their headings say", () => {
    expect(new Set(numbers).size).toBe(records.length);
    for (const [index, record] of records.entries()) {
      expect(textOf(join(directory, record)), record).toMatch(new RegExp(`^# ${numbers[index]}\\. `));
    }
  });

  it("stand in the index once each, by subject, and every number from 1 on is there or was merged", () => {
    const listed = [...subjects.matchAll(/^\| \[(\d+)\]\((\S+)\)/gm)].map(
      ([, number, file]) => `${number} ${file}`,
    );
    expect(listed.sort()).toEqual(records.map((record, index) => `${numbers[index]} ${record}`).sort());
    const all = [...numbers, ...rowsOf(merged)].sort((one, other) => one - other);
    expect(all).toEqual(all.map((_, index) => index + 1));
  });

  it.each(records)("refer to records that there are: %s", (record) => {
    const referred = [...textOf(join(directory, record)).matchAll(/\b(?:record|ADR) \[?(\d+)/gi)];
    expect(
      referred.map(([, number]) => Number(number)).filter((number) => !numbers.includes(number)),
    ).toEqual([]);
  });

  it("that code and documents name are there", () => {
    const patterns = [
      "*.md",
      "{adapters,bin,cli,domain,functions,lib,packages,proof,test,tools}/**/*.{ts,json,md}",
    ];
    const files = [...patterns, "docs/**/*.md", "biome.json"].flatMap((pattern) =>
      globSync(pattern, { cwd: root, exclude: (name) => name.includes("node_modules") }),
    );
    const pattern = (file: string) =>
      file.endsWith(".ts") ? /(?:adr\/0*|\bADR \[?)(\d+)/g : /(?:adr\/0*|\b(?:record|ADR) \[?)(\d+)/g;
    const named = files.flatMap((file) =>
      [...textOf(file).matchAll(pattern(file))].map(([, number]) => ({ file, number: Number(number) })),
    );
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter(({ number }) => !numbers.includes(number))).toEqual([]);
  });
});
