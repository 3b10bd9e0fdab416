import { PassThrough } from "node:stream";
import { vi } from "vitest";
import { runProgram } from "../../packages/cli/program.ts";
import { bareEnvironment, type CommandOptions, type CommandResult } from "./command-line.ts";

/** Runs a command line in this process, one at a time: separate processes would take minutes. */
export async function runInProcess(
  args: readonly string[],
  { env = {}, input = "" }: Pick<CommandOptions, "env" | "input"> = {},
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
