import { describe, expect, it } from "vitest";
import { runProgram } from "../support/program.ts";

describe("npm run outage", () => {
  const run = async (...args: string[]) => {
    await using program = runProgram("proof/outage/main.ts", args);
    return { code: await program.ended, output: program.output() };
  };

  it("explains its options, with examples", async () => {
    const { code, output } = await run("--help");
    expect(code).toBe(0);
    for (const text of ["--hours", "--tasks", "--fault", "--json", "Examples:"]) {
      expect(output).toContain(text);
    }
  });

  it.each([
    [["--hours", "0"], "hours over 0"],
    [["--tasks", "0"], "whole number"],
    [["--fault", "200"], "a status from 400"],
    [["--tasks", "many"], "whole number"],
    [["--twice"], "--twice"],
  ])("refuses %j with what to write instead", async (args, words) => {
    const { code, output } = await run(...args);
    expect(code).toBe(1);
    expect(output).toContain(words);
  });
});
