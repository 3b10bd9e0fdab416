/** Measures the way from an empty folder to the first event that a subscriber reads: three commands. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts, run, start, startSource } from "./installed-app.ts";

const mostSeconds = 60;
const mostSecondsOfSynthesis = 3;

const print = (text: string) => void process.stdout.write(`${text}\n`);
const folder = await mkdtemp(join(tmpdir(), "first event "));
try {
  process.exitCode = (await measure()) ? 0 : 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function measure(): Promise<boolean> {
  print("Packing, and filling npm's cache");
  await using source = await startSource(folder);
  const init = ["npx", "--yes", `file:${source.fileOf("cdk")}`, "init"];
  await run(source, folder, [...init, "warm-up"]);
  await run(source, join(folder, "warm-up"), ["npm", "install"]);
  await rm(join(folder, "warm-up"), { recursive: true });

  const app = join(folder, "my-events");
  const steps = [
    await timed("npx … init my-events", () => run(source, folder, [...init, "my-events"])),
    await timed("npm install", () => run(source, app, ["npm", "install"])),
    await timed("npm run dev", async () => {
      await using running = start(source, app, ["npm", "run", "dev", "--", ...freePorts]);
      await running.printed(/^billing \| /);
      return performance.now();
    }),
  ];
  const total = steps.reduce((sum, seconds) => sum + seconds, 0);
  print(
    `In all ${total.toFixed(1)} s to the first event that the subscriber reads; at most ${mostSeconds} s`,
  );
  const env = { ...source.env, CDK_OUTDIR: join(folder, "assembly"), CDK_VALIDATION: "false" };
  const times: number[] = [];
  for (let count = 1; count <= 3; count += 1)
    times.push(await timed("synthesis of the app", () => run({ env }, app, ["node", "app.ts"])));
  const [, synthesis = Number.NaN] = times.toSorted((one, other) => one - other);
  print(`The median is ${synthesis.toFixed(1)} s; at most ${mostSecondsOfSynthesis} s`);
  return total <= mostSeconds && synthesis <= mostSecondsOfSynthesis;
}

/** @param work may return when it was done, where it has more to end */
async function timed(name: string, work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  const result = await work();
  const seconds = ((typeof result === "number" ? result : performance.now()) - began) / 1000;
  print(`${seconds.toFixed(1).padStart(6)} s  ${name}`);
  return seconds;
}
