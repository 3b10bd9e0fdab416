import { Command, InvalidArgumentError } from "commander";
import { type Measurement, measurements, measurementsOf, rowNames } from "./measurements.ts";

const help = `
Each line: name, ours over theirs, goal, ok or short; docs/evidence/cost-and-capacity.md explains the rows. The exit code is 1
where the implementations don't end with the same records and messages, or something is lost; a row that is short is no
failure.

Rows:
  ${rowNames.join(", ")}

Examples:
  npm run bench -- --quick                          the rows that fit into four minutes
  npm run bench -- --rows rate,latency              these rows
  npm run bench -- --rows price --document          these, written into the page with the date and the machine
  npm run bench -- --calculate                      after a change of a price, a quota or a resource`;

export type Options = {
  readonly quick?: boolean;
  readonly rows?: readonly Measurement[];
  readonly json?: string;
  readonly document?: boolean;
  readonly calculate?: boolean;
};

/** Parses the command line; prints help, or what is wrong with it, and ends the process then. */
export function parseOptions(argv: readonly string[]) {
  const {
    rows,
    quick = false,
    ...options
  } = new Command("npm run bench --")
    .description("Measures this pipeline beside what a user would write instead, in one run on this machine.")
    .option("--quick", "fewer rounds, without the rows that need a long run")
    .option("--rows <names>", "only these rows, separated by commas, and those measured with them", rowsOf)
    .option("--json <file>", "write all figures to a file")
    .option("--document", "record the figures in docs/evidence/cost-and-capacity.md; use an idle machine")
    .option("--calculate", "write that page's calculated tables again, without measuring")
    .addHelpText("after", help)
    .showHelpAfterError("npm run bench -- --help lists options and rows")
    .parse(argv)
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
