import { describe, expect, it } from "vitest";
import { lineOf, median } from "../../proof/startup/report.ts";
import { runProgram } from "../support/program.ts";

describe("the proof of a quick start", () => {
  it("prints a line for each figure, in its short form without the scenario", async () => {
    await using program = runProgram("proof/startup/main.ts", ["--runs", "1", "--short"]);

    expect(await program.ended, program.output()).toBe(0);
    const lines = program.output().trim().split("\n");
    const form = /^([a-z-]+) \d+\.\d\d [\d.]+ (?:ok|short)$/;
    expect(lines.map((line) => form.exec(line)?.[1] ?? line)).toEqual([
      "synthesis-cold",
      "synthesis-warm",
      "start-cold",
      "start-warm",
      "status-node",
      "tab-names",
      "tab-command",
      "status-npx",
    ]);
  });

  it("takes the median, and says where a goal is missed", () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(lineOf("start", 6, 6)).toBe("start 6.00 6 ok");
    expect(lineOf("start", 6.01, 6)).toBe("start 6.01 6 short");
  });
});
