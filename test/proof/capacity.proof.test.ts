import { describe, expect, it } from "vitest";
import { runProgram } from "../support/program.ts";

describe("npm run proof -- capacity", () => {
  const run = async (...args: string[]) => {
    await using program = runProgram("proof/capacity/main.ts", args);
    return { code: await program.ended, output: program.output() };
  };

  it("says what ends at a rate, with its remedy, and how an outage goes", async () => {
    const { code, output } = await run("--rate", "30", "--outage-hours", "0.1");
    expect(code).toBe(0);
    expect(output).toMatch(/OVER +\d+\/s {2}the provider's rate/);
    expect(output).toMatch(/ok +[\d,]+\/s {2}API Gateway/);
    expect(output).toContain("agree on a higher rate with the provider");
    expect(output).toMatch(/\d+ {2}calls to the provider meanwhile/);
  });

  it.each([
    [["--help"], 0, "Examples:"],
    [["--rate", "0"], 1, "a number over 0"],
    [["--twice"], 1, "--twice"],
    [["--stage", "nowhere"], 1, "nowhere"],
  ])("answers %j by %i, with what to write", async (args, expected, words) => {
    const { code, output } = await run(...args);
    expect(code).toBe(expected);
    expect(output).toContain(words);
  });
});
