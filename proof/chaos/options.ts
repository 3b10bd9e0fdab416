import { existsSync, readdirSync } from "node:fs";
import { type DynamoDbEngine, dynamoDbEngines } from "@income-events/local-stack/engines/dynamodb.ts";
import { wholeNumber } from "@income-events/sandbox/whole-number.ts";
import { Command, InvalidArgumentError, Option } from "commander";
import { type Sabotage, sabotages } from "./sabotage.ts";

export type ChaosFlags = {
  readonly seed: number;
  /** First and last seed, inclusive. */
  readonly seeds?: readonly [number, number];
  /** 30 s of faults: a sample of the crash points, a few seconds at each share of faults, each class once. */
  readonly short?: true;
  readonly sabotage?: Sabotage;
  readonly engine?: DynamoDbEngine;
  readonly keep?: string;
  /** Attempts of each webhook while the receivers are down; absent: they are never down. */
  readonly tries?: number;
  /** Slowdown of this machine relative to an idle one. */
  readonly slow: number;
};

/** Options of the run of one seed. */
export type RunOptions = ChaosFlags & {
  /** Directory of the synthesized stage. */
  readonly assembly: string;
  /** Directory of the records. */
  readonly directory: string;
};

const examples = `
Examples:
  npm run chaos -- --seed 7                   one run; a seed always has the same schedule
  npm run chaos -- --seeds 1..20              twenty runs in sequence
  npm run chaos -- --seed 7 --short           a sample of the crash points, and every class of faults
  npm run chaos -- --seed 7 --tries 3         loses webhooks at the end, which reconciliation must find
  npm run chaos -- --seed 7 --sabotage key    the store writes repeated events again: the run must fail

A run kills functions at its share of the crash points; eight consecutive seeds cover all of them.
It exits 0 only if nothing is lost or duplicated, every event is accounted for, every class of faults
occurred, and each of its crash points was hit. A failed run keeps a folder with a trace of each lost
event.`;

/** Parses the command line. Prints help or the error, and exits. */
export function parseChaosFlags(args: readonly string[]): ChaosFlags {
  return new Command("npm run chaos --")
    .description("Kills functions and injects faults under load, and accounts for every event.")
    .option("--seed <n>", "seed of the schedule of faults and kills", wholeNumber(0), 1)
    .option("--seeds <from..to>", "one run for each seed of this range", range)
    .option("--short", "30 s of faults; about a minute in all on an idle machine")
    .option(
      "--tries <n>",
      "at the end, stop the receivers for ten minutes while the provider attempts each webhook this often",
      wholeNumber(1),
    )
    .addOption(new Option("--sabotage <name>", "run a pipeline that is broken on purpose").choices(sabotages))
    .addOption(
      new Option("--engine <name>", "engine of the table; dynamodb-local needs Java 17").choices(
        dynamoDbEngines,
      ),
    )
    .option("--slow <factor>", "multiply the functions' timeouts, on a busy machine", wholeNumber(1), 1)
    .option("--keep <dir>", "keep the records in this new folder, also of a successful run", newFolder)
    .addHelpText("after", examples)
    .parse(args, { from: "user" })
    .opts<ChaosFlags>();
}

/** Records are appended to files: those of an earlier run would count, too. */
function newFolder(path: string): string {
  if (!existsSync(path) || readdirSync(path).length === 0) return path;
  throw new InvalidArgumentError("Name a folder that is empty or does not exist yet.");
}

function range(text: string): readonly [number, number] {
  const [from, to] = (/^(\d+)\.\.(\d+)$/.exec(text) ?? []).slice(1).map(Number);
  if (from !== undefined && to !== undefined && from <= to) return [from, to];
  throw new InvalidArgumentError("Write two whole numbers, as in 1..20.");
}
