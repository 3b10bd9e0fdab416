import { type DynamoDbEngine, dynamoDbEngines } from "@income-events/local-stack/engines/dynamodb.ts";
import { wholeNumber } from "@income-events/local-stack/whole-number.ts";
import { Command, InvalidArgumentError, Option } from "commander";
import { type Sabotage, sabotages } from "./sabotage.ts";

export type ChaosFlags = {
  readonly seed: number;
  /** First and last seed, inclusive. */
  readonly seeds?: readonly [number, number];
  readonly short?: true;
  readonly sabotage?: Sabotage;
  readonly engine?: DynamoDbEngine;
  readonly keep?: string;
  /** Attempts of each webhook while the receivers are down. */
  readonly tries?: number;
  /** Slowdown of this machine relative to an idle one. */
  readonly slow: number;
};

const examples = `
Examples:
  npm run chaos -- --seed 7                          one run: the same seed meets the same schedule of faults and kills
  npm run chaos -- --seeds 1..20                     twenty runs, one after the other
  npm run chaos -- --seed 7 --short                  a sample of the crash points, and every class of faults
  npm run chaos -- --seed 7 --tries 3                webhooks get lost at the end: reconciliation must make up for them
  npm run chaos -- --seed 7 --sabotage key           the store writes each receipt anew: the run must notice
A run kills functions at its share of all points: any eight seeds in a row strike every point.
It exits 0 only if nothing is lost or doubled, the account closes, every class of faults fired, and each of its
crash points was struck. Failed runs leave a folder with a trace of each lost event.`;

/** Parses the command line. Prints help or the error, and exits. */
export function parseChaosFlags(args: readonly string[]): ChaosFlags {
  return new Command("npm run chaos --")
    .description("Kills functions and injects faults under load, and accounts for every event.")
    .option("--seed <n>", "what the schedule of faults and kills follows from", wholeNumber(0), 1)
    .option("--seeds <from..to>", "one run for each of these seeds", range)
    .option("--short", "30 s of trouble, somewhat more than a minute in all on a quiet machine")
    .option(
      "--tries <n>",
      "at the end, take the receivers away for ten minutes while the provider tries each webhook this often",
      wholeNumber(1),
    )
    .option(
      "--sabotage <name>",
      `run a pipeline that is broken on purpose: ${sabotages.join(" or ")}`,
      sabotage,
    )
    .addOption(
      new Option("--engine <name>", "of the table; dynamodb-local needs Java 17").choices(dynamoDbEngines),
    )
    .option(
      "--slow <factor>",
      "give functions so many times their time, on a busy machine",
      wholeNumber(1),
      1,
    )
    .option("--keep <dir>", "leave what was recorded in this folder, also of a good run")
    .addHelpText("after", examples)
    .parse(args, { from: "user" })
    .opts<ChaosFlags>();
}

function range(text: string): readonly [number, number] {
  const [from, to] = (/^(\d+)\.\.(\d+)$/.exec(text) ?? []).slice(1).map(Number);
  if (from !== undefined && to !== undefined && from <= to) return [from, to];
  throw new InvalidArgumentError("Write two whole numbers, as in 1..20.");
}

function sabotage(text: string): Sabotage {
  const known = sabotages.find((name) => name === text);
  if (known !== undefined) return known;
  throw new InvalidArgumentError(`Write ${sabotages.join(" or ")}.`);
}
