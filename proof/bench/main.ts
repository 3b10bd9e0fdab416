import { execFileSync } from "node:child_process";
import { cpus } from "node:os";
import { Command, Option } from "commander";
import { timed } from "../support/program.ts";
import { type Measurement, measurements, measurementsOf, rowNames } from "./measurements.ts";
import { updatePage } from "./page.ts";
import { type Context, linesOf } from "./rows/row.ts";

const help = `
Each line has the row's name, our figure divided by theirs, the goal, and ok or short;
docs/evidence/cost-and-capacity.md explains the rows. It exits 1 if the implementations do not end
with the same records and messages, or if something is lost. A row that is short is not a failure.

Rows:
  ${rowNames.join(", ")}

Examples:
  npm run bench -- --quick                      the rows that take at most four minutes
  npm run bench -- --rows rate,latency          these rows
  npm run bench -- --rows price --document      these, recorded in the page with date and machine
  npm run bench -- --calculate                  after a change of a price, a quota or a resource`;

type Options = {
  readonly quick?: true;
  readonly rows: readonly Measurement[];
  readonly document?: true;
  readonly calculate?: true;
};

const options = new Command("npm run bench --")
  .description(
    "Measures this pipeline and the alternatives that a user would write, in one run on this machine.",
  )
  .option("--quick", "fewer rounds, without the rows that need a long run")
  .addOption(
    new Option("--rows <names>", "only these rows, separated by commas, and those measured with them")
      .argParser((names) => measurementsOf(names.split(",").map((name) => name.trim())))
      .default(measurements, "all"),
  )
  .option("--document", "record the figures in docs/evidence/cost-and-capacity.md; use an idle machine")
  .option("--calculate", "update that page's calculated tables, without measuring")
  .addHelpText("after", help)
  .showHelpAfterError("npm run bench -- --help lists options and rows")
  .parse()
  .opts<Options>();

const say = (text: string) => void process.stderr.write(timed(text));
// At exit, the run's files are deleted and engines and functions are stopped.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(130));

function originOf(now: Date): string {
  const git = (...args: readonly string[]) => execFileSync("git", args, { encoding: "utf8" }).trim();
  const isChanged = git("status", "--porcelain", "--", ":!docs", ":!proof/bench/price/*.csv") !== "";
  const commit = `${git("rev-parse", "--short", "HEAD")}${isChanged ? "+" : ""}`;
  const machine = `${cpus().length} cores, ${cpus()[0]?.model ?? process.arch}, Node ${process.versions.node}`;
  return `${now.toISOString().slice(0, 10)}, ${commit}, ${machine}`;
}

async function measure(): Promise<void> {
  const recordedAs = options.document ? originOf(new Date()) : undefined;
  const context: Context = { isQuick: options.quick === true, recordedAs, onProgress: say };
  for (const { rows, isQuick, measure } of options.rows) {
    if (options.quick && !isQuick) continue;
    say(`measuring ${rows.join(", ")}`);
    // Reports a failure and continues with the other measurements.
    const measured = await measure(context).catch((error: unknown) => {
      process.exitCode = 1;
      say(`not measured: ${rows.join(", ")}\n${error instanceof Error ? error.stack : error}`);
      return [];
    });
    for (const line of measured.flatMap(linesOf)) process.stdout.write(`${line}\n`);
    if (recordedAs !== undefined) updatePage(measured, recordedAs);
  }
  say("done");
}

if (options.calculate) updatePage();
else await measure();
