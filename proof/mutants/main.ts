/** Changes the code on purpose, and counts how much of that the tests notice. `--help` lists the options. */
import { join } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { recordCounts, typedCommand } from "../records/counts.ts";
import { groups, isGroupName } from "./groups.ts";
import { protocolMutants } from "./protocol.ts";
import { runProtocolMutants } from "./run-protocol.ts";
import { runStryker } from "./run-stryker.ts";

const names = [...Object.keys(groups), "protocol"];
const examples = `
Protocol mutants are steps of the protocol done wrong (proof/mutants/protocol.ts): each must be caught. Stryker changes
every expression of a folder; its score is the share that some test notices. Nothing is changed in place.
Interrupted (Ctrl-C), it tells the score so far, and goes on from there the next time.

Examples:
  npm run proof -- mutants                                  all: hours
  npm run proof -- mutants --only protocol                  the protocol's alone
  npm run proof -- mutants --only domain --mutate domain/state/state.ts   one file, in minutes
  npm run proof -- mutants --only functions --share 0.1     a sample of a tenth of the lines
  npm run proof -- mutants --only domain --static           also what is evaluated once, when a file is loaded: much slower`;

type Options = {
  readonly only: readonly string[];
  readonly mutate?: string;
  readonly share?: number;
  readonly static?: boolean;
  readonly record?: boolean;
};

const options = new Command("npm run proof -- mutants")
  .description("Changes the code on purpose, and counts how much of that the tests notice.")
  .option("--only <part>", `${names.join(", ")}; may be given again`, oneMore, [])
  .option("--mutate <files>", "for Stryker: only files of this pattern")
  .option(
    "--share <fraction>",
    "for Stryker: only mutants within so many of the lines, chosen by chance",
    fraction,
  )
  .option("--static", "for Stryker: also mutants that need all tests")
  .option(
    "--record",
    "write the last line of a run that passed down for docs/evidence/promises.md (npm run docs)",
  )
  .addHelpText("after", examples)
  .parse()
  .opts<Options>();

function oneMore(name: string, before: readonly string[]): readonly string[] {
  if (!names.includes(name)) throw new InvalidArgumentError(`Write one of ${names.join(", ")}.`);
  return [...before, name];
}

function fraction(text: string): number {
  const share = Number(text);
  if (share > 0 && share < 1) return share;
  throw new InvalidArgumentError("Write a number between 0 and 1, as in 0.1.");
}

const root = join(import.meta.dirname, "../..");
const interruption = new AbortController();
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(name, () => interruption.abort());
const { signal } = interruption;

async function main(): Promise<boolean> {
  const wanted = options.only.length === 0 ? names : options.only;
  const parts: string[] = [];
  let isGood = true;
  for (const group of wanted.filter(isGroupName)) {
    if (signal.aborted) break;
    const isStatic = options.static === true;
    const { mutate, share } = options;
    const narrower = { ...(mutate !== undefined && { mutate }), ...(share !== undefined && { share }) };
    const { noticed, all, percent, isWhole } = await runStryker({
      root,
      group,
      isStatic,
      signal,
      ...narrower,
    });
    const sampled = share === undefined ? "" : `, a sample of ${share * 100} % of the lines`;
    parts.push(`${group} ${percent.toFixed(1)} % (${noticed}/${all}${isWhole ? "" : " so far"}${sampled})`);
    isGood &&= percent >= groups[group].leastScore;
  }
  if (wanted.includes("protocol") && !signal.aborted) {
    const report = (step: string) => void process.stderr.write(`${step}\n`);
    const { caught, missed } = await runProtocolMutants(root, protocolMutants, report, signal);
    parts.push(`protocol ${caught}/${caught + missed.length}`);
    isGood &&= missed.length === 0;
  }
  const line = `mutants: ${parts.join(" ")}`;
  process.stdout.write(`${line}\n`);
  if (options.record === true && isGood) recordCounts(suiteOf(wanted), typedCommand("mutants"), line);
  return isGood;
}

/** Each part is written down by itself, so that one can be run again without the others. */
function suiteOf(wanted: readonly string[]): string {
  return wanted.length === names.length ? "mutants" : `mutants-${wanted.join("-")}`;
}

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = signal.aborted ? 130 : 1;
}
