import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { findRunningSystems } from "./announce.ts";
import { explain } from "./explain.ts";
import { parseOptions, type StartOptions } from "./options.ts";
import type { Surface } from "./stay-up/session.ts";
import { stayUp } from "./stay-up/stay-up.ts";

const options = parseOptions(process.argv.slice(2));
const started = performance.now();
const secondsSoFar = () => Math.round((performance.now() - started) / 100) / 10;

const { stdout } = process;
const clear = stdout.isTTY ? "\r\u001b[K" : "";
const print = (text: string) => void stdout.write(`${clear}${text}\n`);
const withTime = (text: string) => `${secondsSoFar().toFixed(1).padStart(6)} s  ${text}`;
/** Rewrites one line of a terminal; does nothing in a pipe. */
const progress = (step: string) => {
  if (stdout.isTTY) stdout.write(`${clear}${withTime(step).slice(0, (stdout.columns || 100) - 1)}`);
};
const notice = (text: string) => print(withTime(text));

const interrupted = new Promise<undefined>((resolve) => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.once(signal, () => resolve(undefined));
});

async function main({ once, scenario }: StartOptions): Promise<number> {
  const surface = { print, progress, notice, interrupted };
  if (!once) return stayUp(options, surface);
  const program: ScenarioProgram = await import(pathToFileURL(resolve(scenario ?? "")).href);
  return program.runScenario(options, surface);
}

/** A program that runs a scenario on a new system and reports whether it passed. */
type ScenarioProgram = {
  /** @returns the exit code */
  readonly runScenario: (options: StartOptions, surface: Surface) => Promise<number>;
};

try {
  process.exitCode = await main(options);
} catch (error) {
  process.stderr.write(`\n${explain(error, findRunningSystems())}\n`);
  process.exitCode = 1;
}
