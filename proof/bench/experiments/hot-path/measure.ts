/** Measures what habits of the hot path are worth. `--help` lists the options. */
import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { generateMersenne53Randomizer } from "@faker-js/faker";
import { wholeNumber } from "@income-events/local-stack/whole-number.ts";
import { Command } from "commander";
import { z } from "zod";
import { assemble } from "../../assemble.ts";
import { runFresh } from "../../measure/fresh-process.ts";
import { estimate } from "../../measure/statistics.ts";
import { importEnvironment } from "../../rows/import-rows.ts";
import { type Habit, habitsOf } from "./optimizations.ts";

const examples = `
Each line: a habit, µs of processor time without it and with it, and the ratio with its interval at 95 %.

Examples:
  node proof/bench/experiments/hot-path/measure.ts
  node proof/bench/experiments/hot-path/measure.ts --rounds 5`;

const { rounds } = new Command("node proof/bench/experiments/hot-path/measure.ts")
  .description("Measures what habits of the functions are worth: with and without each, in turns.")
  .option("--rounds <number>", "of each", wholeNumber(2), 15)
  .addHelpText("after", examples)
  .parse()
  .opts<{ rounds: number }>();

type Pair = readonly [without: number, with_: number];
const random = generateMersenne53Randomizer(1);
const started = z.object({ url: z.string(), ca: z.string() });

const worker = new Worker(new URL("./stand-in.ts", import.meta.url));
const [message] = await once(worker, "message");
const { url, ca } = started.parse(message);
for (const habit of habitsOf(url, ca)) tell(habit.name, await measure(habit));
await worker.terminate();
tell("a bundle starts without its source map", await measureSourceMaps());
// Connections that are kept would keep this process.
process.exit();

async function measure({ times, without, with: kept }: Habit): Promise<readonly Pair[]> {
  const microsOf = async (act: Habit["with"]) => {
    const before = process.threadCpuUsage();
    for (let count = 0; count < times; count += 1) await act();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / times;
  };
  // Before the first that counts the code is compiled.
  await microsOf(without);
  await microsOf(kept);
  const pairs: Pair[] = [];
  for (let round = 0; round < rounds; round += 1) pairs.push([await microsOf(without), await microsOf(kept)]);
  return pairs;
}

/** Fresh processes that import a receiver. */
async function measureSourceMaps(): Promise<readonly Pair[]> {
  using assembly = assemble("ours", { hasEventSources: false });
  const file = join(assembly.codeOf("receive"), "index.mjs");
  const microsOf = async (environment: Readonly<Record<string, string>>) =>
    (await runFresh({ node: process.execPath, file, environment })).millis * 1_000;
  const pairs: Pair[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const read = await microsOf({ ...importEnvironment, NODE_OPTIONS: "--enable-source-maps" });
    pairs.push([read, await microsOf(importEnvironment)]);
  }
  return pairs;
}

function tell(name: string, pairs: readonly Pair[]): void {
  const of = (values: readonly number[]) => estimate(values, () => random.next());
  const [before, after] = [of(pairs.map(([each]) => each)), of(pairs.map(([, each]) => each))];
  const { median, low, high } = of(pairs.map(([each, other]) => other / each));
  const text = (value: number) => value.toPrecision(3);
  process.stdout.write(
    `${name}: ${text(before.median)} ${text(after.median)} × ${text(median)} (${text(low)} to ${text(high)})\n`,
  );
}
