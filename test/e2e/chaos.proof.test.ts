import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { runProgram } from "../support/program.ts";

/** A run waits for what it has not seen yet: on a busy machine that takes minutes. */
const patience = 900_000;
/** Other tests run beside this one. */
const slow = "2";

const lastLine =
  /^chaos: sent (?<sent>\d+) stored (?<stored>\d+) deadlettered (?<deadlettered>\d+) refused (?<refused>\d+) lost (?<lost>\d+) duplicated (?<duplicated>\d+) faults (?<faults>\d+) kills (?<kills>\d+) crashpoints (?<struck>\d+)\/(?<points>\d+)\n$/m;
const some = z.coerce.number().positive();
const tally = z.object({
  sent: some,
  stored: some,
  deadlettered: some,
  refused: some,
  lost: z.coerce.number(),
  duplicated: z.coerce.number(),
  faults: some,
  kills: some,
  struck: some,
  points: some,
});

describe("npm run chaos", () => {
  let directory = "";
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "chaos-test-"));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  async function runShort(...more: readonly string[]) {
    const args = [
      "--seed",
      "1",
      "--short",
      "--slow",
      slow,
      "--engine",
      "dynoxide",
      "--keep",
      directory,
      ...more,
    ];
    await using program = runProgram("proof/chaos/main.ts", args);
    const code = await program.ended;
    const output = program.output();
    return { code, output, counted: () => tally.parse(lastLine.exec(output)?.groups) };
  }

  it(
    "loses nothing and doubles nothing while functions are killed and every class of faults fires",
    async () => {
      const { code, output, counted } = await runShort();
      expect(code, output).toBe(0);
      const { sent, stored, deadlettered, refused, lost, duplicated, struck, points } = counted();
      expect({ lost, duplicated, struck }).toEqual({ lost: 0, duplicated: 0, struck: points });
      expect(stored + deadlettered + refused).toBe(sent);
    },
    patience,
  );

  it(
    "announces duplicates, by 1, where the store writes each receipt under a key of its own",
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
  ])("refuses $args, and says what to write", async ({ args, says }) => {
    await using program = runProgram("proof/chaos/main.ts", args);
    expect(await program.ended).toBe(1);
    expect(program.output()).toContain(says);
  });
});
