import { PassThrough } from "node:stream";
import type { Command } from "commander";
import { vi } from "vitest";
import { runProgram } from "../../packages/cli/program.ts";
import { bareEnvironment, type CommandOptions, type CommandResult } from "./command-line.ts";

/** Runs a command line in this process, one at a time: separate processes would take minutes. */
export async function runInProcess(
  args: readonly string[],
  { env = {}, input = "" }: CommandOptions = {},
): Promise<CommandResult> {
  const heard = { stdout: "", stderr: "" };
  const before = { env: process.env, stdin: process.stdin };
  const hear = (stream: "stdout" | "stderr") =>
    vi.spyOn(process[stream], "write").mockImplementation((text) => {
      heard[stream] += String(text);
      return true;
    });
  const spies = [hear("stdout"), hear("stderr")];
  process.env = { ...bareEnvironment(), ...env };
  Object.defineProperty(process, "stdin", { value: new PassThrough().end(input), configurable: true });
  try {
    const code = await runProgram(args);
    return { code, ...heard, json: () => JSON.parse(heard.stdout) };
  } finally {
    process.env = before.env;
    Object.defineProperty(process, "stdin", { value: before.stdin, configurable: true });
    for (const spy of spies) spy.mockRestore();
  }
}

export type Leaf = { readonly words: readonly string[]; readonly command: Command };

/** Every command of a program with its words. */
export function leavesOf(command: Command, words: readonly string[] = []): readonly Leaf[] {
  const below = command.createHelp().visibleCommands(command);
  const own = below.filter((each) => each.name() !== "help");
  if (own.length === 0) return [{ words, command }];
  return own.flatMap((each) => leavesOf(each, [...words, each.name()]));
}
