import { writeFile } from "node:fs/promises";
import { count, printable, printableDeadLetters } from "../../proof/scenario/report.ts";
import { runScenario } from "../../proof/scenario/run.ts";
import { recordTraffic } from "../../proof/scenario/traffic.ts";
import { addressesOf, withCounts } from "./addresses.ts";
import { findRunningSystems } from "./announce.ts";
import { explain } from "./explain.ts";
import { parseOptions, type StartOptions } from "./options.ts";
import type { LocalStack } from "./stack.ts";
import { stayUp } from "./stay-up/stay-up.ts";
import { startSystem } from "./system.ts";

const options = parseOptions(process.argv.slice(2));
const started = performance.now();
const secondsSoFar = () => Math.round((performance.now() - started) / 100) / 10;

const print = (text: string) => void process.stdout.write(`${text}\n`);
const progress = (step: string) => print(`${secondsSoFar().toFixed(1).padStart(6)} s  ${step}`);

/** Resolves when the operator wants it to end. */
const interrupted = new Promise<undefined>((resolve) => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.once(signal, () => resolve(undefined));
});

async function main(): Promise<number> {
  return options.once ? runOnce(options) : stayUp(options, { print, progress, interrupted });
}

/** Small enough that most documents come in two pages. */
const pageSize = 6;

/** Runs the scenario; 0 only if every expected record and message is there. */
async function runOnce({ users, json }: StartOptions): Promise<number> {
  const traffic = recordTraffic();
  // A token in its last minutes, so that the refresher has something to do.
  const token = { tokenLifetimeSeconds: 3600, initialTokenRemainingSeconds: 600 };
  const delivery = { firstRetryMs: 500, maxRetryMs: 4_000 };
  const system = await startSystem(options, { ...token, delivery, pageSize }, progress, traffic.observe);
  try {
    const addresses = addressesOf(system);
    const run = runScenario(system, traffic, { secret: addresses.webhookHeaders, users, progress });
    const result = await Promise.race([run, interrupted]);
    if (result === undefined) return 130;
    const { losses } = result;
    const counts = count(result, traffic.requests(), secondsSoFar());
    print(`\n${printable(counts)}\n\n${printableDeadLetters(result)}\n`);
    for (const loss of losses.slice(0, 20)) print(`  ! ${loss}`);
    if (losses.length > 20) print(`  ! and ${losses.length - 20} more`);
    if (json !== undefined)
      await writeJson(json, {
        ...withCounts(addresses, counts),
        permissions: permissionsIn(system.stack),
      });
    print(losses.length === 0 ? `Nothing is lost, after ${secondsSoFar()} s.` : "Something is lost.");
    return losses.length === 0 ? 0 : 1;
  } finally {
    await system.close();
  }
}

/** What each function's role allows, and whether the scenario needed it. */
function permissionsIn({ functions, gateway }: LocalStack) {
  return functions.flatMap(({ logicalId, name }) =>
    gateway.permissionsOf(name).map((permission) => ({ role: logicalId, ...permission })),
  );
}

async function writeJson(file: string, content: object): Promise<void> {
  await writeFile(file, `${JSON.stringify(content, null, 2)}\n`);
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`\n${explain(error, findRunningSystems())}\n`);
  process.exitCode = 1;
}
