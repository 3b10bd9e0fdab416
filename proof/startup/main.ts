/**
 * Measures how long a start takes, against its goals on two quiet cores. `--help` lists the options.
 */
import { wholeNumber } from "@income-events/local-stack/whole-number.ts";
import { Command } from "commander";
import { compileCacheDirectory } from "../../packages/cli/core/places.ts";
import { forgetCaches, onceSeconds, processorSeconds, startReady, synthesisSeconds } from "./measure.ts";
import { lineOf, median } from "./report.ts";

const description = `Measures how long a start takes, in seconds on the clock, and a command, in seconds of processor time.

Each line has a name, the median of the runs, the goal on two quiet cores, and whether it is met: ok or short. What is
cold begins without what earlier starts have kept below .local/, which is taken away for it.`;

const examples = `
Examples:
  npm run proof -- startup
  npm run proof -- startup --full        the run of the scenario with 200 users, too
  npm run proof -- startup --runs 1 --short    without any run of the scenario`;

const { runs, full, short } = new Command("npm run proof -- startup")
  .description(description)
  .option("--runs <count>", "of which the median is taken; the scenario runs once", wholeNumber(1, 99), 3)
  .option("--full", "run the scenario with 200 users, too", false)
  .option("--short", "leave out the runs of the scenario", false)
  .addHelpText("after", examples)
  .parse()
  .opts<{ readonly runs: number; readonly full: boolean; readonly short: boolean }>();

const print = (name: string, seconds: readonly number[], goal: number) =>
  process.stdout.write(`${lineOf(name, median(seconds), goal)}\n`);

async function repeat(work: () => Promise<number>): Promise<readonly number[]> {
  const values: number[] = [];
  while (values.length < runs) values.push(await work());
  return values;
}

const cold = async () => {
  await forgetCaches();
  return synthesisSeconds();
};
print("synthesis-cold", await repeat(cold), 3);
print("synthesis-warm", await repeat(synthesisSeconds), 1);
{
  await forgetCaches();
  await using first = await startReady();
  print("start-cold", [first.seconds], 6);
}
const ready = async () => {
  await using system = await startReady();
  return system.seconds;
};
print("start-warm", await repeat(ready), 6);
{
  await using system = await startReady();
  const node = `"${process.execPath}" packages/cli/main.ts status`;
  print("status-node", await repeat(() => processorSeconds(node, system.environment)), 0.4);
  for (const [name, words] of Object.entries({ "tab-names": "dl", "tab-command": "dlq show --re" })) {
    // As the shell's function runs it.
    const cache = `NODE_COMPILE_CACHE="${compileCacheDirectory}"`;
    const tab = `${cache} "${process.execPath}" packages/cli/main.ts __complete ${words}`;
    // A Tab keeps what the command takes for the next one.
    await processorSeconds(tab, system.environment);
    print(name, await repeat(() => processorSeconds(tab, system.environment)), 0.2);
  }
  const npx = "npx --no-install income-events status";
  print("status-npx", await repeat(() => processorSeconds(npx, system.environment)), 0.9);
}
if (!short) print("once", [await onceSeconds(20)], 35);
if (full) print("once-200", [await onceSeconds(200)], 60);
