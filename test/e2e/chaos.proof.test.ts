import { describe, expect, it } from "vitest";
import { runProgram } from "../support/program.ts";
import { patience, runShort } from "./chaos-run.ts";

describe("npm run chaos", () => {
  it(
    "reports duplicates, with exit code 1, if the store writes each receipt under its own key",
    async () => {
      const { code, output, counted } = await runShort("--sabotage", "key");
      expect(code, output).toBe(1);
      expect(counted().duplicated, output).toBeGreaterThan(0);
      expect(output).toContain("! duplicated: ");
    },
    patience,
  );

  it.each([
    { args: ["--seeds", "20"], says: "Write two whole numbers, as in 1..20." },
    { args: ["--sabotage", "everything"], says: "Write key or delete-first." },
    { args: ["--seed", "one"], says: "--seed" },
  ])("refuses $args, with the remedy", async ({ args, says }) => {
    await using program = runProgram("proof/chaos/main.ts", args);
    expect(await program.ended).toBe(1);
    expect(program.output()).toContain(says);
  });
});
