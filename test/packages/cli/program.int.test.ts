import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { createProgram } from "../../../packages/cli/program.ts";

function leavesOf(command: Command, words: readonly string[] = []): readonly (readonly string[])[] {
  if (command.commands.length === 0) return [words];
  return command.commands.flatMap((below) => leavesOf(below, [...words, below.name()]));
}

function find(program: Command, words: readonly string[]): Command | undefined {
  return words.reduce<Command | undefined>(
    (command, word) => command?.commands.find((each) => each.name() === word),
    program,
  );
}

describe("the program of a command line", () => {
  it("has for each command the same help as the program of all, and loads its file alone", async () => {
    const all = await createProgram();
    for (const words of leavesOf(all)) {
      const program = await createProgram(words);
      expect(find(program, words)?.helpInformation(), words.join(" ")).toBe(
        find(all, words)?.helpInformation(),
      );
      expect(program.commands.filter((command) => command.name() !== "help")).toHaveLength(1);
    }
  });

  it.each([[[]], [["nonsense"]], [["--help"]], [["help", "status"]], [["token"]], [["token", "nonsense"]]])(
    "has all commands where the words name none: %j",
    async (words) => {
      const all = await createProgram();
      expect(leavesOf(await createProgram(words))).toEqual(leavesOf(all));
    },
  );
});
