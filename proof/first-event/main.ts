/** Measures the way from an empty folder to the first event that a subscriber reads: three commands. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { processorSeconds } from "../startup/measure.ts";
import { median } from "../startup/report.ts";
import { freePorts, run, start, startSource } from "./installed-app.ts";

const mostSeconds = 60;
const mostSecondsOfSynthesis = 3;
const mostSecondsOfStatus = 0.4;

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
  const env = { ...source.env, INCOME_EVENTS_RUNNING: join(folder, "running") };
  let status = Number.NaN;
  const steps = [
    await timed("npx … init my-events", () => run(source, folder, [...init, "my-events"])),
    await timed("npm install", () => run(source, app, ["npm", "install"])),
    await timed("npm run dev", async () => {
      await using running = start({ env }, app, ["npm", "run", "dev", "--", ...freePorts]);
      await running.printed(/^billing \| /);
      const now = performance.now();
      status = await statusOf(app, env);
      return now;
    }),
  ];
  const total = steps.reduce((sum, seconds) => sum + seconds, 0);
  print(
    `In all ${total.toFixed(1)} s to the first event that the subscriber reads; at most ${mostSeconds} s`,
  );
  print(`status takes ${status.toFixed(2)} s of processor time; at most ${mostSecondsOfStatus} s`);
  const synthesis = await synthesisOf(app, source.env);
  return total <= mostSeconds && synthesis <= mostSecondsOfSynthesis && status <= mostSecondsOfStatus;
}

/** @returns seconds of processor time, the first run, which fills Node's cache of compiled code, left out */
async function statusOf(app: string, env: NodeJS.ProcessEnv): Promise<number> {
  const command = `cd "${app}" && "${process.execPath}" node_modules/@income-events/cdk/dist/income-events.mjs status`;
  const times: number[] = [];
  for (let count = 0; count <= 5; count += 1) times.push(await processorSeconds(command, env));
  return median(times.slice(1));
}

/** @returns seconds on the clock; those of processor time are printed beside: what else the machine does is not in them */
async function synthesisOf(app: string, given: NodeJS.ProcessEnv): Promise<number> {
  const env = { ...given, CDK_OUTDIR: join(folder, "assembly"), CDK_VALIDATION: "false" };
  const command = `cd "${app}" && "${process.execPath}" app.ts`;
  const ofClock: number[] = [];
  const ofProcessor: number[] = [];
  for (let count = 1; count <= 3; count += 1) {
    ofClock.push(
      await timed("synthesis of the app", async () => {
        ofProcessor.push(await processorSeconds(command, env));
      }),
    );
  }
  const seconds = median(ofClock);
  const own = `${median(ofProcessor).toFixed(1)} s of processor time`;
  print(`The median is ${seconds.toFixed(1)} s, with ${own}; at most ${mostSecondsOfSynthesis} s`);
  return seconds;
}

/** @param work may return when it was done, where it has more to end */
async function timed(name: string, work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  const result = await work();
  const seconds = ((typeof result === "number" ? result : performance.now()) - began) / 1000;
  print(`${seconds.toFixed(1).padStart(6)} s  ${name}`);
  return seconds;
}
