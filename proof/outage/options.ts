import { wholeNumber } from "@income-events/local-stack/whole-number.ts";
import { type FaultEffect, faultEffects } from "@income-events/sandbox/api/faults.ts";
import { Command, InvalidArgumentError } from "commander";

export type OutageFlags = {
  readonly hours: number;
  readonly tasks: number;
  readonly fault: { readonly status: number } | { readonly effect: FaultEffect };
  readonly json?: string;
};

const examples = `
Examples:
  npm run outage -- --hours 24 --tasks 10000 --json outage.json   a day's outage, in about ten minutes
  npm run outage -- --hours 1 --tasks 200                         a short one
  npm run outage -- --hours 1 --tasks 200 --fault hang            the provider takes calls and never answers
It exits 0 only if every task is done, no message is a dead letter, nothing is lost, and in no minute more calls
were made than the stage's settings allow.`;

/** Reads the command line. Prints help, or what is wrong with it, and exits. */
export function parseOutageFlags(args: readonly string[]): OutageFlags {
  return new Command("npm run outage --")
    .description(
      "Lets the provider be down on the stage compressed, and counts what its pipeline made of it.",
    )
    .option("--hours <n>", "how long it is down, in the stage's time", hours, 24)
    .option("--tasks <n>", "documents that it announces meanwhile", wholeNumber(1, 100_000), 10_000)
    .option("--fault <what>", `what calls meet: a status, or ${faultEffects.join(", ")}`, fault, {
      status: 503,
    })
    .option("--json <file>", "write what was counted as JSON")
    .addHelpText("after", examples)
    .parse(args, { from: "user" })
    .opts<OutageFlags>();
}

function hours(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && value > 0 && value <= 1_000) return value;
  throw new InvalidArgumentError("Write a number of hours over 0, up to 1000.");
}

function fault(text: string): OutageFlags["fault"] {
  const status = Number(text);
  if (Number.isInteger(status) && status >= 400 && status <= 599) return { status };
  const effect = faultEffects.find((known) => known === text);
  if (effect !== undefined) return { effect };
  throw new InvalidArgumentError(`Write a status from 400 to 599, or one of ${faultEffects.join(", ")}.`);
}
