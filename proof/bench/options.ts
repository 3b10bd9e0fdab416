import { Command, InvalidArgumentError } from "commander";
import type { Measurement } from "./measurement.ts";
import { measurements, measurementsOf, rowNames } from "./measurements.ts";

const examples = `
Each line: name, ours over theirs, goal, ok or short. proof/bench/README.md says how to read them. It ends with 1 where the
sides don't end with the same records and messages, or something is lost; a row that is short changes nothing.

Rows:
  ${rowNames.join(", ")}

Examples:
  npm run bench -- --quick                      four minutes, the rows that fit
  npm run bench -- --json results.json          all rows, and every figure as JSON
  npm run bench -- --document                   all rows, each written into bench/ as soon as it is measured
  npm run bench -- --rows rate,latency --document   these again, the others stay as they were
  npm run bench -- --scale 0.02 --document /tmp/x   tries a whole run out`;

export type Options = {
  readonly isQuick: boolean;
  readonly measurements: readonly Measurement[];
  /** Of what a full run measures. */
  readonly scale: number;
  /** Where all figures are written to. */
  readonly json: string | undefined;
  /** Whether figures are recorded even where the machine has other work. */
  readonly isBusy: boolean;
  /** The directory whose document and results are brought up to date. */
  readonly document: string | undefined;
};

/** Parses the command line; help and what is wrong with it end the process. */
export function parseOptions(argv: readonly string[], ownDirectory: string): Options {
  const { quick, rows, scale, json, document, busy } = new Command("npm run bench --")
    .description("Measures this pipeline beside what a user would write instead, in one run on this machine.")
    .option("--quick", "fewer rounds, without the rows that need a long run")
    .option(
      "--rows <names>",
      "these rows only, by commas; rows that are measured together come together",
      rowsOf,
    )
    .option("--scale <share>", "of the rounds and events of a full run, to try one out", shareOf)
    .option("--json <file>", "write all figures to a file")
    .option("--document [directory]", "bring the results and the table in bench/, or elsewhere, up to date")
    .option("--busy", "record even where the machine has other work")
    .addHelpText("after", examples)
    .showHelpAfterError("npm run bench -- --help lists options and rows")
    .parse(argv)
    .opts<{
      quick?: boolean;
      rows?: readonly Measurement[];
      scale?: number;
      json?: string;
      document?: string | boolean;
      busy?: boolean;
    }>();
  const isQuick = quick ?? false;
  return {
    isQuick,
    measurements: (rows ?? measurements).filter((each) => !isQuick || each.isQuick),
    scale: scale ?? 1,
    json,
    isBusy: busy ?? false,
    document: document === true ? ownDirectory : document || undefined,
  };
}

function rowsOf(names: string): readonly Measurement[] {
  try {
    return measurementsOf(names.split(",").map((name) => name.trim()));
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}

function shareOf(text: string): number {
  const share = Number(text);
  if (share > 0 && share <= 1) return share;
  throw new InvalidArgumentError("write a number above 0, at most 1");
}
