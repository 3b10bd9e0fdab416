import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { z } from "zod";
import { runProgram } from "../support/program.ts";

/** A run waits for calls that it has not seen yet, which takes minutes on a busy machine. */
export const patience = 900_000;
/** Other tests run concurrently. */
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

/** Runs one seed with half a minute of faults. */
export async function runShort(...more: readonly string[]) {
  const directory = await mkdtemp(join(tmpdir(), "chaos-test-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const args = ["--seed", "1", "--short", "--slow", slow, "--engine", "dynoxide", "--keep", directory];
  await using program = runProgram("proof/chaos/main.ts", [...args, ...more]);
  const code = await program.ended;
  const output = program.output();
  return { code, output, counted: () => tally.parse(lastLine.exec(output)?.groups) };
}
