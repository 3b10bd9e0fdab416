import { writeFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { addressesOf, printableAddresses, withCounts } from "./addresses.ts";
import { announce, findRunningSystems } from "./announce.ts";
import { type Console, startConsole } from "./console.ts";
import { holdsState } from "./engines/kept.ts";
import { explain } from "./explain.ts";
import { defaultConsolePort, parseOptions, type StartOptions } from "./options.ts";
import { count, printable, printableDeadLetters } from "./scenario/report.ts";
import { runScenario } from "./scenario/run.ts";
import { recordTraffic } from "./scenario/traffic.ts";
import type { LocalStack } from "./stack.ts";
import { type System, startSystem } from "./system.ts";

const options = parseOptions(process.argv.slice(2));
const started = performance.now();
const secondsSoFar = () => Math.round((performance.now() - started) / 100) / 10;

const print = (text: string) => void process.stdout.write(`${text}\n`);
const progress = (step: string) => print(`${secondsSoFar().toFixed(1).padStart(6)} s  ${step}`);

/** Resolves when the operator wants it to end. */
const interrupted = new Promise<void>((resolve) => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
});

async function main(): Promise<number> {
  return options.once ? runOnce(options) : stayUp(options);
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
    const result = await Promise.race([run, interrupted.then(() => undefined)]);
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

/** Stays up until it is interrupted, with sample users that connect their accounts. */
async function stayUp({ users, json, logs, keep, ...others }: StartOptions): Promise<number> {
  const goesOn = keep !== undefined && holdsState(keep);
  const system = await startSystem(options, {}, progress, () => undefined);
  const ending = new AbortController();
  const endAnnouncement = announce(system.stack, {
    sandbox: system.sandbox,
    ...(logs === undefined ? {} : { logs }),
  });
  let page: Console | undefined;
  try {
    page = await consoleOf(system, others);
    const addresses = { ...addressesOf(system), ...(page && { console: { url: page.url } }) };
    if (json !== undefined) await writeJson(json, addresses);
    if (goesOn) {
      progress(`Going on with what ${keep} keeps`);
    } else {
      progress(`Connecting the accounts of ${users} sample users`);
      await system.sandbox.createUsers(users, { companyAccounts: 1 });
    }
    const first = page === undefined ? "" : `Console       ${page.url}    (good for one browser)\n`;
    print(`\n${first}${printableAddresses(addresses, system, logs)}\n\nCtrl-C ends it.`);
    void showActivity(system, ending.signal);
    await interrupted;
    return 0;
  } finally {
    ending.abort();
    endAnnouncement();
    print("\nEnding every process that was started");
    await page?.close();
    await system.close();
  }
}

/** The page on the system. Without it all else runs: why it is not there is said. */
async function consoleOf(
  { stack }: System,
  { console: program, consolePort = defaultConsolePort }: Pick<StartOptions, "console" | "consolePort">,
): Promise<Console | undefined> {
  if (program === undefined) return undefined;
  const awsPort = Number(new URL(stack.gatewayUrl).port);
  try {
    return await startConsole({ program, port: consolePort, awsPort, onSaid: progress });
  } catch (error) {
    progress(`There is no console: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

/** One line whenever something has moved: how often each function worked. */
async function showActivity({ stack }: System, signal: AbortSignal): Promise<void> {
  let shown = "";
  while (!signal.aborted) {
    const line = stack.functions
      .filter(({ counts }) => counts().invocations > 0)
      .map(
        ({ logicalId, counts }) => `${logicalId.replace(/Function[0-9A-F]{8}$/, "")} ${counts().invocations}`,
      )
      .join(", ");
    if (line !== shown) progress(`Invocations: ${line}`);
    shown = line;
    await wait(1_000, undefined, { signal }).catch(() => undefined);
  }
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
