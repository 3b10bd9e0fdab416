/**
 * Tries to break the pipeline's promises on the stage `compressed`, on this machine. `--help` lists the
 * options.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { printFaults, runProgram, timed } from "../support/program.ts";
import { type ChaosFlags, parseChaosFlags } from "./options.ts";
import { type RunResult, reportLine, runChaos } from "./run.ts";
import { sabotaged } from "./sabotage.ts";
import { synthesizeStage } from "./synthesize.ts";

const flags = parseChaosFlags(process.argv.slice(2));
const progress = (step: string) => void process.stderr.write(timed(step));

/** @returns undefined if the run was interrupted */
async function runOnce(
  assembly: string,
  seed: number,
  directory: string,
  interrupted: Promise<undefined>,
): Promise<RunResult | undefined> {
  const result = await Promise.race([
    runChaos({ ...flags, assembly, seed, directory }, progress),
    interrupted,
  ]);
  if (result === undefined) return undefined;
  const { faults, tally } = result;
  printFaults(faults);
  if (faults.length > 0) {
    process.stdout.write(`  What was recorded: ${directory}\n  Once more: ${again(flags, seed)}\n`);
  }
  process.stdout.write(`${reportLine(tally)}\n`);
  return result;
}

function again({ short, sabotage, engine, slow, tries }: ChaosFlags, seed: number): string {
  const words = [
    `npm run chaos -- --seed ${seed}`,
    ...(short ? ["--short"] : []),
    ...(tries ? [`--tries ${tries}`] : []),
    ...(sabotage ? [`--sabotage ${sabotage}`] : []),
    ...(engine ? [`--engine ${engine}`] : []),
    ...(slow > 1 ? [`--slow ${slow}`] : []),
  ];
  return words.join(" ");
}

async function main(interrupted: Promise<undefined>): Promise<number> {
  const directory = flags.keep ?? mkdtempSync(join(tmpdir(), "chaos-"));
  const scratch = mkdtempSync(join(tmpdir(), "chaos-assembly-"));
  const results: RunResult[] = [];
  const good = () => results.filter(({ faults }) => faults.length === 0);
  const seconds: number[] = [];
  try {
    progress("Synthesizing the stack of the stage compressed");
    const whole = await synthesizeStage(scratch, flags.slow);
    const assembly = flags.sabotage ? sabotaged(whole, join(scratch, "broken"), flags.sabotage) : whole;
    const [from, to] = flags.seeds ?? [flags.seed, flags.seed];
    for (let seed = from; seed <= to; seed += 1) {
      const begun = performance.now();
      const result = await runOnce(assembly, seed, join(directory, `seed-${seed}`), interrupted);
      if (result === undefined) return 130;
      results.push(result);
      seconds.push(Math.round((performance.now() - begun) / 1000));
    }
    if (results.length > 1) {
      const each = `${Math.min(...seconds)} to ${Math.max(...seconds)} s each`;
      const line = reportLine(...results.map(({ tally }) => tally));
      process.stdout.write(`${results.length} runs, ${good().length} good, ${each}\n${line}\n`);
    }
    return good().length === results.length ? 0 : 1;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
    if (good().length === results.length && flags.keep === undefined)
      rmSync(directory, { recursive: true, force: true });
  }
}

await runProgram(main);
