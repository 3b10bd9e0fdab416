/**
 * Shows one outage of the provider on the stage `compressed`, on this machine. `--help` lists the options.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { explain } from "@income-events/local-stack/explain.ts";
import { startSystem } from "@income-events/local-stack/system.ts";
import { loadSettings } from "../../lib/settings/settings.ts";
import type { OutageResult } from "./count.ts";
import { parseOutageFlags } from "./options.ts";
import { runOutage } from "./run.ts";

const stage = "compressed";
const shownFaults = 20;

const flags = parseOutageFlags(process.argv.slice(2));
const started = performance.now();
const print = (text: string) => void process.stdout.write(`${text}\n`);
const progress = (step: string) => {
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  print(`${seconds.padStart(6)} s  ${step}`);
};

/** Resolves when the operator wants it to end. */
const interrupted = new Promise<undefined>((resolve) => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.once(signal, () => resolve(undefined));
});

async function main(): Promise<number> {
  const { hours, tasks, fault, json } = flags;
  const settings = loadSettings(stage, join(import.meta.dirname, "../../stages"));
  const ports = { apiPort: 0, awsPort: 0, sandboxPort: 0 };
  const streamRetentionSeconds = 86_400 / settings.divideDurationsBy;
  const deduplicationSeconds = 300 / settings.divideDurationsBy;
  const system = await startSystem(
    { once: true, users: 0, stage, streamRetentionSeconds, deduplicationSeconds, ...ports },
    { delivery: { firstRetryMs: 1_000, maxRetryMs: 10_000 } },
    progress,
    () => undefined,
  );
  try {
    const { divideDurationsBy, provider } = settings;
    const outage = { tasks, hours, fault, divideDurationsBy, limitPerMinute: provider.requestsPerMinute };
    const result = await Promise.race([runOutage(system, outage, progress), interrupted]);
    if (result === undefined) return 130;
    const { faults, ...counts } = result;
    for (const text of faults.slice(0, shownFaults)) print(`  ! ${text}`);
    if (faults.length > shownFaults) print(`  ! and ${faults.length - shownFaults} more`);
    if (json !== undefined) await writeFile(json, `${JSON.stringify(counts)}\n`);
    print(JSON.stringify(counts));
    return isGood(counts) ? 0 : 1;
  } finally {
    await system.close();
  }
}

function isGood(counts: Omit<OutageResult, "faults">): boolean {
  const { tasks, done, deadLetters, lost, maxCallsPerMinute, limitPerMinute } = counts;
  return done === tasks && deadLetters === 0 && lost === 0 && maxCallsPerMinute <= limitPerMinute;
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`\n${explain(error)}\n`);
  process.exitCode = 1;
}
