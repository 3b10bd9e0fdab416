import { spawnSync } from "node:child_process";
import { join } from "node:path";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { createProgram } from "../../../packages/cli/program.ts";
import { leavesOf, runInProcess } from "../../support/in-process.ts";

function find(program: Command, words: readonly string[]): Command | undefined {
  return words.reduce<Command | undefined>(
    (command, word) => command?.commands.find((each) => each.name() === word),
    program,
  );
}

const wordsOf = (program: Command) => leavesOf(program).map(({ words }) => words);

describe("the program of a command line", () => {
  it("has for each command the same help as the program of all, and loads its file alone", async () => {
    const all = await createProgram();
    for (const { words } of leavesOf(all)) {
      const program = await createProgram(words[0]);
      expect(find(program, words)?.helpInformation(), words.join(" ")).toBe(
        find(all, words)?.helpInformation(),
      );
      expect(program.commands.filter((command) => command.name() !== "help")).toHaveLength(1);
    }
  });

  it.each([undefined, "nonsense", "--help", "help"])(
    "has all commands if the word names none: %s",
    async (word) => {
      const all = await createProgram();
      expect(wordsOf(await createProgram(word))).toEqual(wordsOf(all));
    },
  );
});

describe("the command line", () => {
  it.each([["frobnicate"], ["token", "frobnicate"], ["token", "set", "--frobnicate"], []])(
    "refuses what it does not know: %s %s",
    async (...args) => {
      expect((await runInProcess(args.filter((arg) => arg !== undefined))).code).toBe(2);
    },
  );

  it.each([
    ["events list --frobnicate", "npx income-events events list --help"],
    ["key-policy --stage local", "npx income-events key-policy --help"],
    ["events frobnicate", "npx income-events events --help"],
  ])("ends the error of %s with the command that shows the options", async (words, command) => {
    const { code, stderr } = await runInProcess(words.split(" "));
    expect({ code, last: stderr.trim().split("\n").at(-1) }).toEqual({
      code: 2,
      last: `Options: ${command}`,
    });
  });

  it.each([
    ["--version", /^\d+\.\d+\.\d+\n$/],
    ["help events list", /^Usage: income-events events list /],
    ["help", /^Usage: income-events \[/],
    ["dev --help", /Options of the local stack:[\s\S]* --ports <auto>[\s\S]* --console-port <port>/],
  ])("answers %s", async (words, answer) => {
    const result = await runInProcess(words.split(" "));
    expect(result).toMatchObject({ code: 0, stdout: expect.stringMatching(answer), stderr: "" });
  });

  it("prints help of at most 100 columns for each command", async () => {
    const all = await createProgram();
    const printed: string[] = [];
    for (const words of [[], ...wordsOf(all).flatMap((words) => [words.slice(0, 1), words])])
      find(all, words)
        ?.configureOutput({ writeOut: (text) => void printed.push(text) })
        .outputHelp();
    const lines = printed.join("").split("\n");
    expect(lines).toContain("  npx income-events status --json    for programs");
    expect(lines.filter((line) => line.length > 100)).toEqual([]);
  });

  it("ends silently if its reader has closed the pipe", () => {
    const main = join(import.meta.dirname, "../../../packages/cli/main.ts");
    const line = `"${process.execPath}" "${main}" help events list | head -n 1`;
    const { stdout, stderr } = spawnSync("sh", ["-c", line], { encoding: "utf8" });
    expect({ stdout, stderr }).toMatchObject({ stdout: expect.stringMatching(/^Usage: /), stderr: "" });
  });

  it("runs as a program on the Node of the repository, whatever the system has, without a warning", () => {
    const root = join(import.meta.dirname, "../../..");
    const PATH = `${join(root, "node_modules", ".bin")}:/usr/bin:/bin`;
    const { status, stderr } = spawnSync(join(root, "packages", "cli", "main.ts"), ["--help"], {
      env: { PATH },
      encoding: "utf8",
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });
});
