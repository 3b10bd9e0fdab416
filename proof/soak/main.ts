/**
 * Takes very many events through the pipeline, over as many runs as it takes. `--help` lists the options.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { wholeNumber } from "@income-events/local-stack/whole-number.ts";
import { Command } from "commander";
import { recordCounts, typedCommand } from "../records/counts.ts";
import { isGood, lastLine } from "./report.ts";
import { soak } from "./run.ts";

const description = `Takes very many events through the pipeline and looks from outside that each is stored once and sent, its data fetched and announced, that queues are empty again and that no function's memory grows. A part goes end to end, from
the webhooks' API to the subscriber's queue; the rest through the functions, batch after batch. Progress is kept after
each leg: what was interrupted goes on with the same command.`;

const examples = `
Examples:
  npm run proof -- soak                                       a million events, a hundred thousand of them end to end
  npm run proof -- soak --events 20000 --end-to-end 2000
  npm run proof -- soak --anew                                forgets how far it has come`;

type Flags = {
  readonly events: number;
  readonly endToEnd: number;
  readonly batch: number;
  readonly session: number;
  readonly state: string;
  readonly anew?: boolean;
  readonly record?: boolean;
};

const flags = new Command("npm run proof -- soak")
  .description(description)
  .option("--events <count>", "in all", wholeNumber(1), 1_000_000)
  .option("--end-to-end <count>", "of them, end to end", wholeNumber(1), 100_000)
  .option("--leg <count>", "events from one look to the next", wholeNumber(1), 5_000)
  .option("--session <count>", "events until the system is started again", wholeNumber(1), 100_000)
  .option("--state <file>", "how far it has come", join(import.meta.dirname, "../../.local/soak.json"))
  .option("--anew", "begin from the beginning")
  .option(
    "--record",
    "write the last line of a run that passed down for docs/evidence/promises.md (npm run docs)",
  )
  .addHelpText("after", examples)
  .parse()
  .opts<Flags>();

if (flags.anew === true) rmSync(flags.state, { force: true });
const interruption = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.once(signal, () => {
    process.stderr.write("Ends after this batch; the same command goes on.\n");
    interruption.abort();
  });

const state = await soak({
  plan: { events: flags.events, endToEnd: Math.min(flags.endToEnd, flags.events) },
  eventsPerBatch: flags.batch,
  eventsPerSession: flags.session,
  file: flags.state,
  signal: interruption.signal,
  onProgress: (text) => void process.stderr.write(`${text}\n`),
});
const line = lastLine(state);
process.stdout.write(`${line}\n`);
if (flags.record === true && isGood(state)) recordCounts("soak", typedCommand("soak"), line);
if (interruption.signal.aborted) process.exitCode = 130;
else process.exitCode = isGood(state) ? 0 : 1;
