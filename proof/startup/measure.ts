import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { synthesize } from "@income-events/local-stack/synthesis/synthesize.ts";

const repository = join(import.meta.dirname, "../..");
const start = "packages/local-stack/start.ts";
const freePorts = [
  "--console",
  "packages/cli/main.ts",
  "--api-port",
  "0",
  "--aws-port",
  "0",
  "--sandbox-port",
  "0",
];
/** What is kept from one start to the next. */
const caches = ["assemblies", "compile-cache"].map((name) => join(repository, ".local", name));

/** Takes away what earlier starts have left, as in a fresh clone. */
export async function forgetCaches(): Promise<void> {
  await Promise.all(caches.map((path) => rm(path, { recursive: true, force: true })));
}

/** @returns the seconds of a synthesis of the stage `local` */
export async function synthesisSeconds(): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), "income-events-startup-"));
  try {
    return await secondsOf(() => synthesize("local", join(directory, "assembly"), undefined, repository));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** @returns the seconds of `npm start -- --once`. @throws with what it printed where something is lost */
export async function onceSeconds(users: number): Promise<number> {
  const run = startNode([start, "--once", "--users", String(users)], process.env);
  return secondsOf(async () => {
    if ((await run.ended) !== 0) throw new Error(run.output());
  });
}

export type Ready = AsyncDisposable & {
  /** Seconds until it reported its addresses. */
  readonly seconds: number;
  /** For commands that are to find it. */
  readonly environment: NodeJS.ProcessEnv;
};

/** Starts the stack as `npm start` does, on free ports; commands find it only with its environment. */
export async function startReady(): Promise<Ready> {
  const running = await mkdtemp(join(tmpdir(), "income-events-running-"));
  const environment = { ...process.env, INCOME_EVENTS_RUNNING: running };
  const run = startNode([start, "--logs", join(running, "logs"), ...freePorts], environment);
  const end = async () => {
    run.end();
    await run.ended;
    await rm(running, { recursive: true, force: true });
  };
  try {
    return {
      seconds: await secondsOf(() => run.printed("Ctrl-C ends it.")),
      environment,
      [Symbol.asyncDispose]: end,
    };
  } catch (error) {
    await end();
    throw error;
  }
}

/**
 * @param environment where a system is found @param command as a shell takes it
 * @returns the seconds of processor time of a command and what it starts @throws where it fails
 */
export async function processorSeconds(command: string, environment: NodeJS.ProcessEnv): Promise<number> {
  // The second line that `times` prints is of the shell's children: minutes and seconds of user and system.
  const run = startProgram("sh", ["-c", `${command} >&2 && times`], environment);
  const code = await run.ended;
  const times = /(\d+)m([\d.]+)s (\d+)m([\d.]+)s\s*$/.exec(run.output());
  if (code !== 0 || times === null) throw new Error(`${command} failed: ${run.output()}`);
  const [, userMinutes, user, systemMinutes, system] = times.map(Number);
  return 60 * ((userMinutes ?? 0) + (systemMinutes ?? 0)) + (user ?? 0) + (system ?? 0);
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1_000;
}

function startNode(args: readonly string[], environment: NodeJS.ProcessEnv) {
  return startProgram(process.execPath, args, environment);
}

function startProgram(file: string, args: readonly string[], env: NodeJS.ProcessEnv) {
  const child = spawn(file, args, { cwd: repository, env, stdio: ["ignore", "pipe", "pipe"] });
  const { promise: ended, resolve, reject } = Promise.withResolvers<number | null>();
  child.once("error", reject).once("close", resolve);
  let heard = "";
  const listeners = new Set<() => void>();
  for (const stream of [child.stderr, child.stdout]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      heard += text;
      for (const listener of listeners) listener();
    });
  }
  const printed = (text: string) =>
    new Promise<void>((found, failed) => {
      listeners.add(() => heard.includes(text) && found());
      ended.then(() => failed(new Error(heard)), failed);
    });
  return { ended, output: () => heard, printed, end: () => void child.kill("SIGTERM") };
}
