import { writeFile } from "node:fs/promises";
import { generateMersenne53Randomizer } from "@faker-js/faker";
import { Command } from "commander";
import { estimate } from "./measure/statistics.ts";
import { readPrices } from "./price.ts";
import { lineOf } from "./report/lines.ts";
import { firstCallRow } from "./rows/first-call-row.ts";
import { bundleRow, importRows } from "./rows/import-rows.ts";
import type { Row } from "./rows/row.ts";
import { spendingRows } from "./rows/spending-rows.ts";

const examples = `
Each line: name, ours over the peer's, goal, ok or short. bench/README.md says how to read them.

Examples:
  npm run bench -- --quick                 the rows that fit into a minute
  npm run bench -- --json results.json     all rows, and every figure as JSON`;

type Options = { readonly quick?: boolean; readonly json?: string };

const { quick = false, json } = new Command("npm run bench --")
  .description("Measures this pipeline beside what a user would write instead, in one run on this machine.")
  .option("--quick", "fewer rounds, and only the rows that fit into a minute")
  .option("--json <file>", "write all figures to a file")
  .addHelpText("after", examples)
  .parse()
  .opts<Options>();

const random = generateMersenne53Randomizer(1);
const estimateOf = (values: readonly number[]) => estimate(values, () => random.next());
const onProgress = (step: string) => void process.stderr.write(`${step}\n`);
const print = (text: string) => void process.stdout.write(`${text}\n`);

const rows: Row[] = [];
const tell = (more: readonly Row[]) => {
  rows.push(...more);
  for (const row of more) for (const line of lineOf(row)) print(line);
};

tell([bundleRow(estimateOf)]);
const imports = { node: process.execPath, suffix: "", estimate: estimateOf, onProgress };
tell(await importRows({ ...imports, runs: quick ? 7 : 41 }));
tell([await firstCallRow({ ...imports, runs: quick ? 5 : 31 })]);
const spending = { prices: readPrices(), estimate: estimateOf, onProgress };
tell(await spendingRows({ ...spending, events: quick ? 100 : 500, rounds: quick ? 3 : 15 }));

if (json !== undefined) await writeFile(json, `${JSON.stringify({ rows }, null, 2)}\n`);
