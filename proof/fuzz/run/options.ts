import { Command, InvalidArgumentError, Option } from "commander";
import { type TargetName, targetNames } from "../targets.ts";

export type FuzzFlags = {
  readonly inputs: number;
  readonly seed: number;
  readonly target: readonly TargetName[];
  readonly input?: string;
  readonly json?: string;
  readonly record?: boolean;
};

const examples = `
A target's promise is in proof/fuzz/targets/. What breaks one is written into .local/findings/.

Examples:
  npm run proof -- fuzz                                       a million inputs, shared among all targets
  npm run proof -- fuzz --inputs 50000 --target settings      one target
  npm run proof -- fuzz --target webhook --input .local/findings/webhook-crash-0a1b    what was found, once more`;

/** Parses the command line; a wrong one ends the process with what to write instead. */
export function parseFuzzFlags(args: readonly string[]): FuzzFlags {
  return new Command("npm run proof -- fuzz")
    .description("Gives what takes bytes from outside inputs that a coverage-guided fuzzer makes.")
    .addOption(
      new Option("--inputs <count>", "how many in all, shared among the targets")
        .default(1_000_000)
        .argParser(wholeNumber),
    )
    .addOption(new Option("--seed <number>", "of the search").default(1).argParser(wholeNumber))
    .addOption(
      new Option("--target <names...>", "only these").choices(targetNames).default(targetNames, "all"),
    )
    .option("--input <file>", "give the one target this input, and show what comes of it")
    .option("--json <file>", "write the counts to a file")
    .option(
      "--record",
      "write the last line of a run that passed down for docs/evidence/promises.md (npm run docs)",
    )
    .addHelpText("after", examples)
    .parse(args, { from: "user" })
    .opts<FuzzFlags>();
}

function wholeNumber(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Write a whole number above zero.");
}
