import { loadavg } from "node:os";
import { join } from "node:path";
import { generateMersenne53Randomizer } from "@faker-js/faker";
import { createAssemblies } from "./assemblies.ts";
import { quick, scaled } from "./effort.ts";
import { estimate } from "./measure/statistics.ts";
import type { Context } from "./measurement.ts";
import { parseOptions } from "./options.ts";
import { readPrices } from "./price.ts";
import { warnOfOtherWork } from "./quiet-machine.ts";
import { lineOf } from "./report/lines.ts";
import { originOf } from "./report/origin.ts";
import { merged, type Results, readResults, writeResults } from "./report/results.ts";
import { writeDocument } from "./report/write-document.ts";

const options = parseOptions(process.argv, import.meta.dirname);
const began = performance.now();
const say = (text: string) => {
  const seconds = String(Math.round((performance.now() - began) / 1000)).padStart(4);
  process.stderr.write(`${seconds} s  ${text}\n`);
};
// What is left behind goes when the process ends: files with it, engines and functions as their pipes close.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(130));

const random = generateMersenne53Randomizer(1);
using assemblies = createAssemblies();
const context: Context = {
  effort: options.isQuick ? quick : scaled(options.scale),
  assemblies,
  prices: readPrices(),
  estimate: (values) => estimate(values, () => random.next()),
  onProgress: say,
};
const warning = options.document === undefined ? undefined : warnOfOtherWork(loadavg()[0] ?? 0);
if (warning !== undefined) {
  say(warning);
  if (!options.isBusy) process.exit(2);
}
const origin = originOf(new Date());
const reference = join(options.document ?? "", "results", "reference.json");
let results: Results = { rows: [] };
for (const { rows, measure } of options.measurements) {
  say(`measuring ${rows.join(", ")}`);
  // What failed is reported, and the rest is measured all the same.
  const measured = await measure(context).catch((error: unknown) => {
    process.exitCode = 1;
    say(`not measured: ${rows.join(", ")}\n${error instanceof Error ? error.stack : error}`);
    return [];
  });
  for (const line of measured.flatMap(lineOf)) process.stdout.write(`${line}\n`);
  results = merged(results, measured, origin);
  // Row by row: where a later one fails, nothing is lost.
  if (options.json !== undefined) writeResults(options.json, results);
  if (options.document === undefined) continue;
  writeResults(reference, merged(readResults(reference), measured, origin));
  writeDocument(options.document);
}
say("done");
