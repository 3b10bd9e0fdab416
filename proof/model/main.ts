/** Lives the model of the protocol through, longer than `npm test` does. `--help` lists the options. */

import { wholeNumber } from "@income-events/local-stack/whole-number.ts";
import { Command } from "commander";
import fc from "fast-check";
import { recordCounts, typedCommand } from "../records/counts.ts";
import { histories, live } from "./commands.ts";
import { failEachStep, scenarios } from "./faults.ts";
import { raceEachWay, races } from "./races.ts";
import { liveUndisturbed, undisturbedTimes } from "./table/calls.ts";
import * as ofTable from "./table/histories.ts";
import * as tableRaces from "./table/races.ts";

const examples = `
Runs the functions' own code on queues, a table, a stream, a secret and a provider that live in memory, and looks at
every promise of docs/evidence/promises.md: in random histories, with a fault at each step of a story, and in every interleaving
of races. The protocol of the table is modelled once more by itself, with clocks that are apart, lost locks, outages, pages,
redrives and erasures. A history that breaks a promise is reported with the seed and the path that bring it back.

Examples:
  npm run proof -- model                         1,000 histories, and 45,000 of the table; one fault at each step, races with 2 switches
  npm run proof -- model --runs 0 --table-runs 200000   the table alone, for longer
  npm run proof -- model --runs 20000 --seed 7   more histories, which are the same for the same seed
  npm run proof -- model --faults 2 --switches 3 two faults at once, at every two steps; more interleavings: hours`;

type Options = {
  readonly runs: number;
  readonly tableRuns: number;
  readonly seed: number;
  readonly faults: number;
  readonly switches: number;
  readonly record?: boolean;
};

const { runs, tableRuns, seed, faults, switches, record } = new Command("npm run proof -- model")
  .description("Tries to break the promises of the protocol in a model of it.")
  .option("--runs <number>", "random histories", wholeNumber(0), 1_000)
  .option("--table-runs <number>", "random histories of the table's protocol", wholeNumber(0), 45_000)
  .option("--seed <number>", "of the histories", wholeNumber(0), Date.now() % 1_000_000)
  .option("--faults <number>", "faults at once, in the story", wholeNumber(0), 1)
  .option("--switches <number>", "switches from one racer to another", wholeNumber(0), 2)
  .option(
    "--record",
    "write the last line of a run that passed down for docs/evidence/promises.md (npm run docs)",
  )
  .addHelpText("after", examples)
  .parse()
  .opts<Options>();

const report = (step: string) => void process.stderr.write(`${step}\n`);
let broken = 0;
const attempt = async <T>(what: string, run: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await run();
  } catch (error) {
    broken += 1;
    report(`${what}: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
};

let interleavings = 0;
for (const race of Object.keys(races).filter((name): name is keyof typeof races => name in races)) {
  const ways = await attempt(race, () => raceEachWay(race, switches));
  report(`${race}: ${ways ?? "broken"}`);
  interleavings += ways ?? 0;
}
let faulted = 0;
for (const [name, announcesStarted] of [
  ["long", true],
  ["start", false],
] as const) {
  const runsOfScenario = await attempt(name, () => failEachStep(scenarios[name], faults, announcesStarted));
  report(`the story "${name}" with faults at each step: ${runsOfScenario ?? "broken"}`);
  faulted += runsOfScenario ?? 0;
}

const run = await attempt("histories", async () => {
  await fc.assert(
    fc.asyncProperty(histories, (history) => live(history)),
    { numRuns: runs, seed },
  );
  return runs;
});

for (const race of Object.keys(tableRaces.races).filter(isTableRace)) {
  for (const gap of [0, 900, -900]) {
    const ways = await attempt(race, () => tableRaces.raceEachWay(race, switches, gap));
    report(`${race}, SQS's clock ${gap} ms ahead: ${ways ?? "broken"}`);
    interleavings += ways ?? 0;
  }
}
const runsOfStory = await attempt("table", () => tableRaces.failEachStep(faults));
report(`the table's story with faults at each step: ${runsOfStory ?? "broken"}`);
faulted += runsOfStory ?? 0;

const tableRun = await attempt("the table's histories", async () => {
  fc.assert(
    fc.property(ofTable.histories, (history) => void ofTable.live(history)),
    { numRuns: tableRuns, seed },
  );
  return tableRuns;
});
const calls = { made: 0, excess: 0 };
await attempt("undisturbed times of the table", async () => {
  fc.assert(
    fc.property(undisturbedTimes, (time) => {
      const { provider, excess } = liveUndisturbed(time);
      calls.made += provider.reads;
      calls.excess += excess;
    }),
    { numRuns: Math.ceil(tableRuns / 15), seed },
  );
});
report(`calls in excess of the least possible: ${calls.excess} of ${calls.made}`);

function isTableRace(name: string): name is keyof typeof tableRaces.races {
  return name in tableRaces.races;
}

const line = `model: histories ${(run ?? 0) + (tableRun ?? 0)} seed ${seed} struck ${faulted} interleavings ${interleavings} broken ${broken}`;
process.stdout.write(`${line}\n`);
const flags = { runs, "table-runs": tableRuns, seed, faults, switches };
const words = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]);
const command = typedCommand("model", words);
if (record === true && broken === 0) recordCounts("model", command, line);
process.exitCode = broken === 0 ? 0 : 1;
