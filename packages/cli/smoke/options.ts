import { Command, InvalidArgumentError } from "commander";
import { isMark } from "./mark.ts";
import { maxWebhooks } from "./plan.ts";

export type SmokeOptions = {
  readonly stage?: string;
  readonly outputs?: string;
  readonly pipeline?: string;
  readonly subscriber: readonly string[];
  readonly deadline: number;
  readonly atOnce: number;
  readonly json?: string;
  readonly erase?: string;
};

const maxAtOnce = 10;

const help = `
Needed: the stack's outputs, and what AWS's own tools use (credentials, AWS_PROFILE, AWS_ENDPOINT_URL). Without --outputs
the system is tested that npm start keeps up on this machine.

A queue is read only where that hurts nobody: that of a subscriber named smoke, from which everything is deleted; or
those named by --subscriber, from which only the run's own messages are deleted. The others there are hidden from
readers while the run searches, and count as received once. A reader of the queue can take the run's messages away.
On this machine all of them are read, unless one is named smoke.

Each document that messages in these queues announce is read at the stage's read API, as whoever runs this.

Exit codes: 0 every check passed, 1 one has not, 2 used wrongly, 3 no deployment or no access to it.

Examples:
  npm run smoke -- --outputs outputs.json                      a stage with a subscriber named smoke
  npm run smoke                                                what npm start keeps up on this machine
  npm run smoke -- --outputs outputs.json --subscriber risk    a stage where nobody reads that queue yet
  AWS_ENDPOINT_URL=http://localhost:4566 npm run smoke -- --outputs outputs.json
                                                               a stage in an emulator
  npm run smoke -- --outputs outputs.json --erase RUN          delete what a run has stored`;

/** The command line. Prints help, or what is wrong, and throws commander's error. */
export function parseSmokeOptions(args: readonly string[]): SmokeOptions {
  const command = new Command("npm run smoke --")
    .description(`Drives a deployed stage from webhook to subscriber with at most ${maxWebhooks} webhooks.`)
    .option("--outputs <file>", "the stage of this file of cdk deploy --outputs-file")
    .option("--stage <name>", "the stage, where there are several")
    .option("--pipeline <name>", "the pipeline, where a stage or a stack has several: the construct's id")
    .option("--subscriber <name>", "whose queue may be read; can be repeated", collect, [])
    .option("--deadline <seconds>", "the longest wait of each step", wholeNumber(1, 3_600), 120)
    .option("--at-once <n>", "webhooks under way at once", wholeNumber(1, maxAtOnce), maxAtOnce)
    .option("--json <file>", "write the report as JSON")
    .option("--erase <run>", "send nothing; delete what this run has stored", markOf)
    .addHelpText("after", help)
    .allowExcessArguments(false)
    .exitOverride()
    .parse(args, { from: "user" });
  return command.opts<SmokeOptions>();
}

function collect(name: string, names: readonly string[]): readonly string[] {
  return [...names, name];
}

function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Write a whole number from ${least} to ${most}.`);
  };
}

function markOf(text: string): string {
  if (isMark(text)) return text;
  throw new InvalidArgumentError("Write the run as it was printed at its end.");
}
