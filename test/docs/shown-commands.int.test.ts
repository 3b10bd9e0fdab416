import { execFileSync } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { createProgram } from "../../packages/cli/program.ts";

const root = join(import.meta.dirname, "../..");
const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(join(root, "package.json"), "utf8")));

/** The function with which guides read the outputs; it is run below. */
const outputHelper = /^output\(\) \{ .* \}$/;

const program = /^(?:npm|npx|node|aws|git|LAWS_SEED=\S+)\b/;

/** Pages with commands to type. */
const pages: readonly string[] = [
  "README.md",
  "CONTRIBUTING.md",
  "docs/guide/*.md",
  "docs/operate/*.md",
].flatMap((pattern) => globSync(pattern, { cwd: root }).sort());

const shown = shownCommands();
const shownBy = (program: RegExp) => shown.filter(({ line }) => program.test(line));
const leaves = (await createProgram()).commands.flatMap((group) =>
  group.commands.length === 0
    ? [{ words: group.name(), command: group }]
    : group.commands.map((command) => ({ words: `${group.name()} ${command.name()}`, command })),
);

describe("a command that README, CONTRIBUTING, a guide or an operate page shows", () => {
  it.each(shownBy(/^npx income-events [a-z]/))("exists, with its options: $page, $line", ({ line }) => {
    const rest = line.replace("npx income-events ", "");
    const found = leaves.find(({ words }) => rest === words || rest.startsWith(`${words} `));
    expect(found, "no such command").toBeDefined();
    const known = ["--help", ...(found?.command.options ?? []).map(({ long }) => long)];
    const named = [...rest.matchAll(/ (--[a-z-]+)/g)].map(([, option]) => option);
    expect(named.filter((option) => !known.includes(option ?? ""))).toEqual([]);
  });

  it.each(shownBy(/\bnpm (run [a-z:]+|start|test)\b/))(
    "is a script of package.json: $page, $line",
    ({ line }) => {
      const [, name = ""] = /\bnpm (?:run )?([a-z:]+)/.exec(line) ?? [];
      // The pages also show scripts of the app that `init` writes.
      const ofAnApp = readFileSync(join(root, "examples/minimal/package.json"), "utf8").includes(
        `"${name}":`,
      );
      expect(name in scripts || ofAnApp, `package.json has no script ${name}`).toBe(true);
    },
  );

  it.each(shownBy(/^node /))("runs an existing file: $page, $line", ({ line }) => {
    expect(existsSync(join(root, line.split(" ")[1] ?? ""))).toBe(true);
  });

  it("read outputs with a working helper", () => {
    const directory = mkdtempSync(join(tmpdir(), "outputs-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    writeFileSync(
      join(directory, "outputs.json"),
      JSON.stringify({ "income-events-prod": { TableName: "events" } }),
    );
    const helper = shown.find(({ line }) => outputHelper.test(line))?.line ?? "";
    expect(
      execFileSync("bash", ["-c", `${helper}\noutput TableName`], { cwd: directory })
        .toString()
        .trim(),
    ).toBe("events");
  });
});

/** A command line on a page: its words before the first pipe or redirection. */
type ShownCommand = { readonly page: string; readonly line: string };

/** All command lines of the pages, in blocks and within sentences. */
function shownCommands(): readonly ShownCommand[] {
  return pages.flatMap((page) => {
    const text = readFileSync(join(root, page), "utf8");
    const inline = text
      .replaceAll(/^ *```[\s\S]*?^ *```$/gm, "")
      .matchAll(/`((?:npm|npx|node|LAWS_SEED=\S+) [^`]+)`/g);
    const lines = [...blocksOf(text).flatMap(linesOf), ...[...inline].map(([, line = ""]) => line)];
    return [...new Set(lines.flatMap((line) => commandsOf(line)))].map((line) => ({ page, line }));
  });
}

function blocksOf(text: string): readonly string[] {
  return [...text.matchAll(/^ *```(sh|console|)\n([\s\S]*?)^ *```$/gm)].map(([, language, code = ""]) =>
    language === "console"
      ? code
          .split("\n")
          .flatMap((line) => (line.startsWith("$ ") ? [line.slice(2)] : []))
          .join("\n")
      : language === "sh"
        ? code
        : code
            .split("\n")
            .filter((line) => program.test(line))
            .join("\n"),
  );
}

/** Joins continued lines (`\`, a pipe, a loop, a quotation). */
function linesOf(block: string): readonly string[] {
  const lines: string[] = [];
  for (const line of block.split("\n").map((each) => each.trim())) {
    const before = lines.at(-1);
    if (before !== undefined && /(?:\\|\||; do)$/.test(before)) lines[lines.length - 1] = `${before} ${line}`;
    else if (line !== "") lines.push(line);
  }
  return lines;
}

/** Commands of a line, split at `&&`, without comments, pipes and redirections. */
function commandsOf(line: string): readonly string[] {
  // An AWS CLI command within a line makes the whole line need AWS.
  if (/\baws [a-z]/.test(line)) return [line.replace(/^.*?(?=\baws [a-z])/, "")];
  return line.split(" && ").map((part) => (part.split(/ {2,}#| [|<>] /)[0] ?? "").trim());
}
