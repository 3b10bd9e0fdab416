import { join, resolve } from "node:path";
import { generateMersenne53Randomizer } from "@faker-js/faker";
import { wholeNumber } from "@income-events/local-stack/whole-number.ts";
import { Command } from "commander";
import type { RunningSide } from "./drive/running-side.ts";
import type { Spending } from "./measure/spending.ts";
import { estimate } from "./measure/statistics.ts";
import { type BenchProvider, startProvider } from "./provider.ts";
import { parts } from "./sides.ts";
import { workload } from "./workload.ts";

const examples = `
Each line: a figure per event, before, after, and after over before with its interval at 95 %.

Examples:
  git worktree add ../before HEAD~3 && ln -s "$PWD/node_modules" ../before/node_modules
  node proof/bench/compare-checkouts.ts ../before
  node proof/bench/compare-checkouts.ts ../before --rounds 9 --events 200`;

const program = new Command("node proof/bench/compare-checkouts.ts")
  .description(
    "Measures our functions of another checkout and of this one, in turns, in one run on this machine.",
  )
  .argument("<directory>", "the other checkout: before")
  .option("--rounds <number>", "how often each takes a load", wholeNumber(1), 5)
  .option(
    "--events <number>",
    "distinct events of a round; three in ten deliveries are duplicates",
    wholeNumber(1),
    100,
  )
  .addHelpText("after", examples)
  .parse();
const { rounds, events } = program.opts<{ rounds: number; events: number }>();
const directories = { before: resolve(program.args[0] ?? ""), after: resolve(import.meta.dirname, "../..") };

type Checkout = {
  readonly running: RunningSide;
  readonly measure: (seed: number) => Promise<Spending>;
};

/** Another checkout brings its own functions, and what starts and drives them. */
async function start(directory: string, provider: BenchProvider): Promise<Checkout> {
  const load = (file: string) => import(join(directory, "bench", file));
  const sides: typeof import("./drive/running-side.ts") = await load("drive/running-side.ts");
  const { spendingOf }: typeof import("./measure/spending.ts") = await load("measure/spending.ts");
  const running = await sides.startSide("ours", provider);
  return {
    running,
    measure: (seed) => spendingOf(running, workload({ seed, events, duplicates: 0.3 }), provider.calls),
  };
}

await using provider = await startProvider();
await using cleanup = new AsyncDisposableStack();
const before = await start(directories.before, provider);
cleanup.use(before.running);
const after = await start(directories.after, provider);
cleanup.use(after.running);

const found: { before: Spending; after: Spending }[] = [];
for (let round = -2; round < rounds; round += 1) {
  const seed = 5_000 + round;
  // Each begins as often as the other.
  const first = round % 2 === 0 ? before : after;
  const one = await first.measure(seed);
  const other = await (first === before ? after : before).measure(seed);
  // In the first two the processes start and compile.
  if (round >= 0)
    found.push(first === before ? { before: one, after: other } : { before: other, after: one });
  process.stderr.write(`round ${round + 1} of ${rounds}\n`);
}

const random = generateMersenne53Randomizer(1);
const tell = (name: string, figure: (spending: Spending) => number) => {
  const [old, now, ratio] = [
    found.map((pair) => figure(pair.before) / events),
    found.map((pair) => figure(pair.after) / events),
    found.map((pair) => figure(pair.after) / figure(pair.before)),
  ].map((values) => estimate(values, () => random.next()));
  const text = (value = Number.NaN) => value.toPrecision(3);
  process.stdout.write(
    `${name} ${text(old?.median)} ${text(now?.median)} ${text(ratio?.median)} (${text(ratio?.low)} to ${text(ratio?.high)})\n`,
  );
};
for (const part of parts) tell(`cpu-${part}-µs`, ({ spent }) => spent[part].cpuMicros);
tell("write-units", ({ writeUnits }) => writeUnits);
tell("read-units", ({ readUnits }) => readUnits);
tellCalls();

/** Requests of functions per event, by operation; of all rounds, and of the first two as well. */
function tellCalls(): void {
  const counted = [before, after].map(({ running }) => callsOf(running));
  const names = [...new Set(counted.flatMap((calls) => [...calls.keys()]))].toSorted();
  const perEvent = (count = 0) => (count / events / (rounds + 2)).toFixed(3);
  for (const name of names) {
    process.stdout.write(`${name} ${counted.map((calls) => perEvent(calls.get(name))).join(" ")}\n`);
  }
}

function callsOf({ stack }: RunningSide): ReadonlyMap<string, number> {
  const calls = new Map<string, number>();
  for (const [key, count] of stack.gateway.calls()) {
    const [principal = "", action = ""] = key.split(" ");
    const part = parts.find((each) => principal.toLowerCase().includes(each));
    if (part !== undefined) calls.set(`${part} ${action}`, (calls.get(`${part} ${action}`) ?? 0) + count);
  }
  return calls;
}
