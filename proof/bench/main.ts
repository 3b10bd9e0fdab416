import { execFileSync } from "node:child_process";
import { cpus } from "node:os";
import { Command, InvalidArgumentError } from "commander";
import { type Context, full, quick } from "./context.ts";
import { type Measurement, measurements, measurementsOf, rowNames } from "./measurements.ts";
import { calculate, record } from "./page.ts";
import { linesOf } from "./rows/row.ts";

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
  readonly quick?: boolean;
  readonly rows?: readonly Measurement[];
  readonly document?: boolean;
  readonly calculate?: boolean;
};

/** Parses the command line. Prints help or the error, and exits. */
function parseOptions() {
  const {
    rows,
    quick = false,
    ...options
  } = new Command("npm run bench --")
    .description(
      "Measures this pipeline and the alternatives that a user would write, in one run on this machine.",
    )
    .option("--quick", "fewer rounds, without the rows that need a long run")
    .option("--rows <names>", "only these rows, separated by commas, and those measured with them", rowsOf)
    .option("--document", "record the figures in docs/evidence/cost-and-capacity.md; use an idle machine")
    .option("--calculate", "update that page's calculated tables, without measuring")
    .addHelpText("after", help)
    .showHelpAfterError("npm run bench -- --help lists options and rows")
    .parse()
    .opts<Options>();
  return { ...options, quick, measurements: (rows ?? measurements).filter((each) => !quick || each.isQuick) };
}

function rowsOf(names: string): readonly Measurement[] {
  try {
    return measurementsOf(names.split(",").map((name) => name.trim()));
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}

const options = parseOptions();
const began = performance.now();
const say = (text: string) => {
  const seconds = String(Math.round((performance.now() - began) / 1000)).padStart(4);
  process.stderr.write(`${seconds} s  ${text}\n`);
};
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
  const recordedAs = options.document === true ? originOf(new Date()) : undefined;
  const context: Context = { effort: options.quick ? quick : full, recordedAs, onProgress: say };
  for (const { rows, measure } of options.measurements) {
    say(`measuring ${rows.join(", ")}`);
    // Reports a failure and continues with the other measurements.
    const measured = await measure(context).catch((error: unknown) => {
      process.exitCode = 1;
      say(`not measured: ${rows.join(", ")}\n${error instanceof Error ? error.stack : error}`);
      return [];
    });
    for (const line of measured.flatMap(linesOf)) process.stdout.write(`${line}\n`);
    if (recordedAs !== undefined) record(measured, recordedAs);
  }
  say("done");
}

if (options.calculate === true) calculate();
else await measure();
