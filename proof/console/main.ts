/**
 * Measures the console in a browser, on the stack that npm start runs. `--help` lists the options.
 */
import { wholeNumber } from "@income-events/local-stack/whole-number.ts";
import { Command } from "commander";
import { showDeadLetters } from "./dead-letters.ts";
import {
  firstPageSeconds,
  growthOf,
  memoryOverTime,
  scriptKilobytes,
  scroll,
  tailSeconds,
} from "./measure.ts";
import { addStored, openSystem } from "./system.ts";

const description = `Measures the console in a browser, on the stack that npm start runs.

Each line has a name, the figure, its goal on two quiet cores, and whether it is met: ok or short. Times are medians, in
seconds. memory is how much the last third of the run takes more than the third before: the server's as the machine has
it, and live as its garbage leaves it.`;

const { minutes, perSecond, rows, deadLetters, runs, chromium } = new Command("npm run proof -- console")
  .description(description)
  .option("--minutes <count>", "how long events come while memory is measured", Number, 10)
  .option("--per-second <count>", "events a second meanwhile", wholeNumber(1, 1_000), 50)
  .option("--rows <count>", "events in the history that is scrolled", wholeNumber(1, 100_000), 100_000)
  .option("--dead-letters <count>", "dead letters in a queue", wholeNumber(1, 100_000), 100_000)
  .option("--runs <count>", "of which the median is taken", wholeNumber(1, 99), 5)
  .option("--chromium <file>", "the browser", process.env.CHROMIUM ?? "/usr/bin/chromium")
  .parse()
  .opts<{
    readonly minutes: number;
    readonly perSecond: number;
    readonly rows: number;
    readonly deadLetters: number;
    readonly runs: number;
    readonly chromium: string;
  }>();

const print = (name: string, value: number, goal: number) =>
  process.stdout.write(`${name} ${value.toFixed(2)} ${goal} ${value <= goal ? "ok" : "short"}\n`);
const note = (text: string) => process.stdout.write(`${text}\n`);

async function median(measure: () => Promise<number>): Promise<number> {
  const values: number[] = [];
  while (values.length < runs) values.push(await measure());
  return values.toSorted((one, other) => one - other)[Math.floor(runs / 2)] ?? Number.NaN;
}

print("script-kilobytes", await scriptKilobytes(), 150);
await using system = await openSystem(chromium);
print("first-page", await median(() => firstPageSeconds(system)), 1);
print("tail", await median(() => tailSeconds(system)), 1);

const { samples, sent } = await memoryOverTime(system, {
  minutes,
  perSecond,
  onSample: ({ minutes: at, sent: soFar, server, live, page }) => {
    const [held, used, shown] = [server.toFixed(0), live.toFixed(1), page.toFixed(1)];
    note(
      `  after ${at.toFixed(1)} minutes, ${soFar} events: server ${held} MB, of which ${used} MB live, page ${shown} MB`,
    );
  },
});
note(`  ${sent} events in ${minutes} minutes`);
print("memory-server", growthOf(samples.map(({ server }) => server)), 0.1);
print("memory-server-live", growthOf(samples.map(({ live }) => live)), 0.1);
print("memory-page", growthOf(samples.map(({ page }) => page)), 0.1);

addStored(system.functions, rows);
const scrolled = await scroll(system);
note(
  `  ${scrolled.rows} rows, read in ${scrolled.readSeconds.toFixed(1)} s, the median frame ${scrolled.medianFrame.toFixed(3)} s`,
);
print("longest-frame", scrolled.longestFrame, 0.1);

const shown = await showDeadLetters(system, deadLetters);
note(
  `  ${deadLetters} dead letters, of which the page shows ${shown.rows}: the median frame ${shown.medianFrame.toFixed(3)} s`,
);
print("dead-letters-page", shown.readSeconds, 2);
print("dead-letters-longest-frame", shown.longestFrame, 0.1);
print("dead-letter-opened", shown.openSeconds, 1);
