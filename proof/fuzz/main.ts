/**
 * Gives everything that takes bytes from outside inputs that a coverage-guided fuzzer makes. `--help` lists the options.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { recordCounts, typedCommand } from "../records/counts.ts";
import { type CampaignResult, fuzz } from "./run/campaign.ts";
import { type FuzzFlags, parseFuzzFlags } from "./run/options.ts";
import { lastLine, lineOf } from "./run/report.ts";
import { fileOf, inputsOf, targetOf } from "./targets.ts";

const findings = join(import.meta.dirname, "../../.local/findings");
const limits = { secondsPerInput: 10, mostResidentBytes: 1_073_741_824, mostGrowthBytes: 16_777_216 };
const progressEveryMs = 5_000;

const flags = parseFuzzFlags(process.argv.slice(2));
process.exitCode = flags.input === undefined ? await fuzzAll(flags) : await giveOnce(flags, flags.input);

async function fuzzAll({ inputs, seed, target: names, json, record = false }: FuzzFlags): Promise<number> {
  const interruption = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.once(signal, () => interruption.abort());
  const results: CampaignResult[] = [];
  for (const [name, count] of inputsOf(inputs, names)) {
    const target = targetOf(name);
    const onProgress = everySoOften((reported: number) => report(`${name}: ${reported} of ${count}`));
    const result = await fuzz(target, {
      name,
      file: fileOf(name),
      inputs: count,
      seed,
      ...limits,
      findings,
      signal: interruption.signal,
      onProgress: ({ inputs: reported }) => onProgress(reported),
    }).catch((error: unknown) => {
      if (interruption.signal.aborted) return undefined;
      throw error;
    });
    if (result === undefined) return 130;
    results.push(result);
    report(lineOf(result));
    if (result.found !== undefined) report(`Broken: ${target.promise}\n${result.said}`);
  }
  if (json !== undefined)
    await writeFile(json, `${JSON.stringify(results.map(({ said: _, ...counts }) => counts))}\n`);
  const line = lastLine(results);
  process.stdout.write(`${line}\n`);
  const isGood = results.every(({ found }) => found === undefined);
  if (record && isGood) recordCounts("fuzz", typedCommand("fuzz"), line);
  return isGood ? 0 : 1;
}

/** Without the fuzzer, so that a debugger can look. */
async function giveOnce({ target: names }: FuzzFlags, file: string): Promise<number> {
  const [name, other] = names;
  if (name === undefined || other !== undefined) {
    report("Name one target with --target: it gets the input.");
    return 2;
  }
  const { check, promise } = targetOf(name);
  try {
    await check(await readFile(file));
    process.stdout.write(`${name}: its promise holds\n`);
    return 0;
  } catch (error) {
    report(`Broken: ${promise}\n${error instanceof Error ? error.stack : String(error)}`);
    return 1;
  }
}

function report(line: string): void {
  process.stderr.write(`${line}\n`);
}

function everySoOften<T>(act: (value: T) => void): (value: T) => void {
  let actedAt = performance.now();
  return (value) => {
    if (performance.now() - actedAt < progressEveryMs) return;
    actedAt = performance.now();
    act(value);
  };
}
