/** Runs the model of the protocol for longer than `npm test` does. `--help` lists the options. */

import { wholeNumber } from "@income-events/sandbox/whole-number.ts";
import { Command } from "commander";
import fc from "fast-check";
import { histories, live } from "./commands.ts";
import { failEachStep, scenarios } from "./faults.ts";
import { raceEachWay, races } from "./races.ts";
import { callInHistory, rateHistories } from "./rate.ts";
import { defaultReadiness } from "./surroundings.ts";
import { liveUndisturbed, undisturbedTimes } from "./undisturbed.ts";

const examples = `
Runs the functions' own code on queues, a table, a stream, a secret and a provider in memory, with
services whose clocks differ, and checks every promise of docs/evidence/promises.md: in random
histories, with a fault at each step of a scenario, and in every interleaving of races. It reports a
history that breaks a promise with the seed and the path that reproduce it.

Examples:
  npm run proof -- model                            1,000 histories
  npm run proof -- model --runs 20000 --seed 7      more histories; a seed always has the same ones`;

/** Switches between racing steps. */
const switches = 2;

const { runs, seed } = new Command("npm run proof -- model")
  .description("Checks the promises of the protocol in a model of it.")
  .option("--runs <number>", "random histories", wholeNumber(0), 1_000)
  .option("--seed <number>", "seed of the histories", wholeNumber(0), Date.now() % 1_000_000)
  .addHelpText("after", examples)
  .parse()
  .opts<{ readonly runs: number; readonly seed: number }>();

const report = (step: string) => void process.stderr.write(`${step}\n`);
let broken = 0;
/** @returns what was counted; 0 if a promise is broken */
async function check(what: string, run: () => Promise<number>): Promise<number> {
  try {
    const counted = await run();
    report(`${what}: ${counted}`);
    return counted;
  } catch (error) {
    broken += 1;
    report(`${what}: broken: ${error instanceof Error ? error.message : String(error)}`);
    return 0;
  }
}

let interleavings = 0;
for (const race of Object.keys(races).filter((name): name is keyof typeof races => name in races))
  for (const queueAhead of [0, 900, -900])
    interleavings += await check(`${race}, SQS's clock ${queueAhead} ms ahead`, () =>
      raceEachWay(race, switches, { queueAhead }),
    );
let struck = 0;
for (const [name, announcesStarted, settings] of [
  ["long", true, {}],
  ["start", false, {}],
  ["ready", true, { readiness: defaultReadiness, hasAttributes: true }],
] as const)
  struck += await check(`the story "${name}" with faults at each step`, () =>
    failEachStep(scenarios[name], 1, announcesStarted, settings),
  );
const lived = await check("histories", async () => {
  await fc.assert(
    fc.asyncProperty(histories, (history) => live(history)),
    { numRuns: runs, seed },
  );
  return runs;
});
await check("histories of the provider's rate", async () => {
  await fc.assert(fc.asyncProperty(rateHistories, callInHistory), { numRuns: runs, seed });
  return runs;
});
await check("calls in excess of the least possible", async () => {
  const reads = { made: 0, excess: 0 };
  await fc.assert(
    fc.asyncProperty(undisturbedTimes, async (time) => {
      const { made, excess } = await liveUndisturbed(time);
      reads.made += made;
      reads.excess += excess;
    }),
    // Fewer can exceed the share by chance.
    { numRuns: Math.max(20, Math.ceil(runs / 100)), seed },
  );
  if (reads.excess > 0.05 * (reads.made - reads.excess)) throw new Error("more than 5 % are in excess");
  return reads.excess;
});

process.stdout.write(
  `model: histories ${lived} seed ${seed} struck ${struck} interleavings ${interleavings} broken ${broken}\n`,
);
process.exitCode = broken === 0 ? 0 : 1;
