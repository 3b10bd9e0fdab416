/** Runs all long checks in sequence, or one program with its flags: `npm run proof -- <name> [flags]`. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const root = join(import.meta.dirname, "..");
const report = ".local/reports/proof.json";
const vitest = "node_modules/vitest/vitest.mjs run";

/** Programs of `npm run proof -- <name>`: what each shows, and its command. */
const programs: Readonly<Record<string, readonly [shows: string, command: string]>> = {
  alarms: ["The condition of each alarm raises that alarm.", `${vitest} --project proof test/e2e/alarms.e2e`],
  bench: [
    "Compares CPU time, requests, bundles and prices with three other implementations.",
    "proof/bench/main.ts",
  ],
  chaos: [
    "No event is lost or duplicated under random faults of AWS, the provider and the functions.",
    "proof/chaos/main.ts",
  ],
  conformance: [
    "The sandbox keeps each statement of the income-data service's interface.",
    `${vitest} test/docs/named-tests test/packages/sandbox`,
  ],
  field: [
    "Webhooks and answers from public bug reports are handled correctly.",
    `${vitest} test/e2e/field.e2e`,
  ],
  model: [
    "The protocol keeps its promises in random histories, with a fault at each step, and in races.",
    "proof/model/main.ts",
  ],
  outage: [
    "Nothing is lost while the provider is down for a day, and the backlog is processed at its rate.",
    "proof/outage/main.ts",
  ],
};

/** Steps without a name: about 40 minutes on two cores. */
const steps: Readonly<Record<string, string>> = {
  tests: `${vitest} --project proof --outputFile.json=${report}`,
  chaos: "proof/chaos/main.ts --seeds 1..3 --tries 3",
  outage: "proof/outage/main.ts --tasks 10000",
  model: "proof/model/main.ts --runs 3000",
};

const listed = Object.entries(programs).map(([name, [shows]]) => `  ${name.padEnd(12)} ${shows}\n`);
const usage = `npm run proof                     all long tests and programs: about 40 minutes
npm run proof -- <name> [flags]   one program; --help after a name lists its flags

${listed.join("")}`;

const counts = z.object({ numPassedTests: z.number(), numFailedTests: z.number() });

let running: ReturnType<typeof spawn> | undefined;
let isInterrupted = false;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.on(signal, () => {
    isInterrupted = true;
    running?.kill(signal);
  });

/** @returns the exit code */
function run(command: string, flags: readonly string[] = []): Promise<number> {
  const [file = "", ...args] = command.split(" ");
  const child = spawn(process.execPath, [join(root, file), ...args, ...flags], {
    cwd: root,
    stdio: "inherit",
  });
  running = child;
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
}

/** Counts of the long tests. */
const testCounts = () => counts.parse(JSON.parse(readFileSync(join(root, report), "utf8")));

async function runAll(): Promise<number> {
  const began = performance.now();
  let [passed, failed] = [0, 0];
  for (const [name, command] of Object.entries(steps)) {
    if (isInterrupted) return 130;
    const begun = performance.now();
    const code = await run(command);
    // A step counts as one, except for the tests; one that fails without a failed test counts as one failure.
    const counted = name === "tests" && !isInterrupted ? testCounts() : undefined;
    passed += counted?.numPassedTests ?? Number(code === 0);
    failed += counted?.numFailedTests || Number(code !== 0);
    process.stdout.write(`${code === 0 ? "passed" : "FAILED"}  ${secondsSince(begun)} s  ${name}\n`);
  }
  process.stdout.write(`proof: ${passed} passed, ${failed} failed in ${secondsSince(began)} s\n`);
  return failed === 0 ? 0 : 1;
}

function secondsSince(begun: number): string {
  return ((performance.now() - begun) / 1_000).toFixed(0);
}

const [name, ...flags] = process.argv.slice(2);
const [, command] = programs[name ?? ""] ?? [];
if (name === undefined) process.exitCode = await runAll();
else if (command !== undefined) process.exitCode = await run(command, flags);
else {
  const isHelp = ["--list", "--help", "-h"].includes(name);
  (isHelp ? process.stdout : process.stderr).write(isHelp ? usage : `No proof "${name}".\n\n${usage}`);
  process.exitCode = isHelp ? 0 : 2;
}
