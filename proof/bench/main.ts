import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { type Context, full, quick } from "./context.ts";
import { parseOptions } from "./options.ts";
import { calculate, record } from "./page.ts";
import { linesOf, type Row } from "./rows/row.ts";

const options = parseOptions(process.argv);
const began = performance.now();
const say = (text: string) => {
  const seconds = String(Math.round((performance.now() - began) / 1000)).padStart(4);
  process.stderr.write(`${seconds} s  ${text}\n`);
};
// The files of the run are deleted, and engines and functions end, when the process does.
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
  const all: Row[] = [];
  for (const { rows, measure } of options.measurements) {
    say(`measuring ${rows.join(", ")}`);
    // A failure is reported, and the rest is measured all the same.
    const measured = await measure(context).catch((error: unknown) => {
      process.exitCode = 1;
      say(`not measured: ${rows.join(", ")}\n${error instanceof Error ? error.stack : error}`);
      return [];
    });
    for (const line of measured.flatMap(linesOf)) process.stdout.write(`${line}\n`);
    all.push(...measured);
    if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(all, undefined, 1)}\n`);
    if (recordedAs !== undefined) record(measured, recordedAs);
  }
  say("done");
}

if (options.calculate === true) calculate();
else await measure();
