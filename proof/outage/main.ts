/** Shows an outage of the provider on the stage `compressed`, on this machine. `--help` lists the options. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startSystem } from "@income-events/local-stack/system.ts";
import { type FaultEffect, faultEffects } from "@income-events/sandbox/api/faults.ts";
import { wholeNumber } from "@income-events/sandbox/whole-number.ts";
import { Command, InvalidArgumentError, Option } from "commander";
import { loadSettings } from "../../lib/settings/settings.ts";
import { printFaults, runProgram, timed } from "../support/program.ts";
import { type OutageResult, runOutage } from "./run.ts";

const stage = "compressed";
type OutageFlags = {
  readonly hours: number;
  readonly tasks: number;
  readonly fault: { readonly status: number } | { readonly effect: FaultEffect };
  readonly json?: string;
};

const examples = `
Examples:
  npm run outage -- --hours 24 --tasks 10000 --json outage.json    a one-day outage, in ten minutes
  npm run outage -- --hours 1 --tasks 200                          a short one
  npm run outage -- --hours 1 --tasks 200 --fault hang             the provider never answers

It exits 0 only if every task is done, there are no dead letters, nothing is lost, and no minute has
more calls than the stage's settings allow.`;

/** Parses the command line. Prints help or the error, and exits. */
function parseOutageFlags(): OutageFlags {
  return new Command("npm run outage --")
    .description("Takes the provider down on the stage compressed, and counts the pipeline's results.")
    .option("--hours <n>", "length of the outage, in the stage's time", hours, 24)
    .option(
      "--tasks <n>",
      "documents that the provider announces during the outage",
      wholeNumber(1, 100_000),
      10_000,
    )
    .addOption(
      new Option("--fault <what>", `answer to each call: a status, or ${faultEffects.join(", ")}`)
        .argParser(fault)
        .default({ status: 503 }, "503"),
    )
    .option("--json <file>", "write the counts as JSON")
    .addHelpText("after", examples)
    .parse()
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

const print = (text: string) => void process.stdout.write(`${text}\n`);
const progress = (step: string) => void process.stdout.write(timed(step));

async function main(interrupted: Promise<undefined>): Promise<number> {
  const { hours, tasks, fault, json } = parseOutageFlags();
  const settings = loadSettings(stage, join(import.meta.dirname, "../../stages"));
  const ports = { apiPort: 0, awsPort: 0, sandboxPort: 0 };
  const streamRetentionSeconds = 86_400 / settings.divideDurationsBy;
  const deduplicationSeconds = 300 / settings.divideDurationsBy;
  const system = await startSystem(
    { once: true, users: 0, stage, streamRetentionSeconds, deduplicationSeconds, ...ports },
    { delivery: { firstRetryMs: 1_000, maxRetryMs: 10_000 } },
    { progress, notice: progress },
    () => undefined,
  );
  try {
    const { divideDurationsBy, provider } = settings;
    const outage = { tasks, hours, fault, divideDurationsBy, limitPerMinute: provider.requestsPerMinute };
    const result = await Promise.race([runOutage(system, outage, progress), interrupted]);
    if (result === undefined) return 130;
    const { faults, ...counts } = result;
    printFaults(faults);
    if (json !== undefined) await writeFile(json, `${JSON.stringify(counts)}\n`);
    print(JSON.stringify(counts));
    return isGood(counts) ? 0 : 1;
  } finally {
    await system.close();
  }
}

function isGood(counts: Omit<OutageResult, "faults">): boolean {
  const { tasks, done, deadLetters, lost, maxCallsPerMinute, limitPerMinute } = counts;
  return done === tasks && deadLetters === 0 && lost === 0 && maxCallsPerMinute <= limitPerMinute;
}

await runProgram(main);
