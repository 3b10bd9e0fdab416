import { readFile, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { join } from "node:path";
import { generateMersenne53Randomizer } from "@faker-js/faker";
import { Command } from "commander";
import { estimate } from "./measure/statistics.ts";
import { readPrices } from "./price.ts";
import { type Results, withResults } from "./report/document.ts";
import { lineOf } from "./report/lines.ts";
import { plotOf } from "./report/plot.ts";
import { firstCallRow } from "./rows/first-call-row.ts";
import { flowRows } from "./rows/flow-rows.ts";
import { growthRows } from "./rows/growth-rows.ts";
import { bundleRow, importRows } from "./rows/import-rows.ts";
import { providerCallsRow } from "./rows/provider-calls-row.ts";
import type { Row } from "./rows/row.ts";
import { spendingRows } from "./rows/spending-rows.ts";

const examples = `
Each line: name, ours over theirs, goal, ok or short. bench/README.md says how to read them.

Examples:
  npm run bench -- --quick                 fewer rounds, without the rows that need a long run
  npm run bench -- --json results.json     all rows, and every figure as JSON
  npm run bench -- --document              all rows, written into bench/README.md and bench/results/`;

type Options = { readonly quick?: boolean; readonly json?: string; readonly document?: boolean };

const {
  quick = false,
  json,
  document = false,
} = new Command("npm run bench --")
  .description("Measures this pipeline beside what a user would write instead, in one run on this machine.")
  .option("--quick", "fewer rounds, without the rows that need a long run")
  .option("--json <file>", "write all figures to a file")
  .option("--document", "write the results into bench/README.md, with a plot")
  .addHelpText("after", examples)
  .parse()
  .opts<Options>();

const random = generateMersenne53Randomizer(1);
const common = {
  estimate: (values: readonly number[]) => estimate(values, () => random.next()),
  onProgress: (step: string) => void process.stderr.write(`${step}\n`),
};
const rows: Row[] = [];
const tell = (more: readonly Row[]) => {
  rows.push(...more);
  for (const line of more.flatMap(lineOf)) process.stdout.write(`${line}\n`);
};

const imports = { ...common, node: process.execPath, suffix: "" };
const prices = readPrices();
tell([bundleRow(common.estimate)]);
tell(await importRows({ ...imports, runs: quick ? 5 : 41 }));
if (quick) {
  tell(await spendingRows({ ...common, prices, events: 60, rounds: 2 }));
} else {
  tell([await firstCallRow({ ...imports, runs: 41 })]);
  tell(await spendingRows({ ...common, prices, events: 500, rounds: 15 }));
  tell(await flowRows({ ...common, events: 1_000, rounds: 7 }));
  tell([await providerCallsRow(1_000, common.onProgress)]);
  tell(await growthRows({ ...common, prices, loads: [1_000, 10_000, 100_000] }));
}

const results: Results = {
  date: new Date().toISOString().slice(0, 10),
  machine: `${cpus().length} cores, ${cpus()[0]?.model ?? process.arch}`,
  versions: { Node: process.versions.node },
  rows,
};
if (json !== undefined) await writeFile(json, `${JSON.stringify(results, null, 2)}\n`);
if (document) {
  const file = (name: string) => join(import.meta.dirname, name);
  await writeFile(file("results/reference.json"), `${JSON.stringify(results, null, 2)}\n`);
  await writeFile(file("results/ratios.svg"), plotOf(rows));
  await writeFile(file("README.md"), withResults(await readFile(file("README.md"), "utf8"), results));
}
