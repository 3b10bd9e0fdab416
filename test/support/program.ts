import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const repository = join(import.meta.dirname, "..", "..");

/** A program, run as a user runs it. */
export type Program = AsyncDisposable & {
  readonly pid: number;
  /** Output so far, both streams. */
  output(): string;
  /** Number of whole lines so far. */
  count(): number;
  /**
   * Resolves with the first line from a position on that has the text or matches the pattern; rejects with the
   * output if the program ends first.
   */
  printed(text: string | RegExp, from?: number): Promise<string>;
  /** Exit code, once it has ended. */
  readonly ended: Promise<number | null>;
  signal(name: NodeJS.Signals): void;
};

type Surroundings = {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Whether it ends by Ctrl-C, with everything that it started. */
  readonly isGroup?: boolean;
};

/**
 * Runs a file of this repository.
 * @param env in addition to this process's own
 * @param runtime interpreter of the file
 */
export function runProgram(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  runtime = process.execPath,
): Program {
  return startProgram([runtime, file, ...args], { env: { ...process.env, ...env } });
}

export function startProgram([file = "", ...args]: readonly string[], surroundings: Surroundings): Program {
  const { cwd = repository, env = process.env, isGroup = false } = surroundings;
  const child = spawn(file, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: isGroup });
  let heard = "";
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      heard += text;
      for (const listener of [...listeners]) listener();
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
  return {
    pid: pidOf(child),
    output: () => heard,
    count: () => heard.split("\n").length - 1,
    printed: (text, from = 0) =>
      new Promise((resolve, reject) => {
        const isIt = (line: string) => (typeof text === "string" ? line.includes(text) : text.test(line));
        const listen = () => {
          const line = heard.split("\n").slice(from).find(isIt);
          if (line === undefined) return;
          listeners.delete(listen);
          resolve(line);
        };
        listeners.add(listen);
        listen();
        void ended.then((code) =>
          reject(new Error(`ended with ${code} before it printed ${text}:\n${heard}`)),
        );
      }),
    ended,
    signal: (name) => void child.kill(name),
    [Symbol.asyncDispose]: async () => {
      if (isGroup) process.kill(-pidOf(child), "SIGINT");
      else child.kill("SIGTERM");
      await ended;
    },
  };
}

function pidOf({ pid }: ChildProcess): number {
  if (pid === undefined) throw new Error("the program could not be started");
  return pid;
}

/** All descendants of a process, by Linux's process table. */
export function descendantsOf(pid: number): readonly number[] {
  const parents = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const parent = parentOf(name);
      return parent === undefined ? [] : [{ pid: Number(name), parent }];
    });
  const below = (of: number): number[] =>
    parents.filter(({ parent }) => parent === of).flatMap((child) => [child.pid, ...below(child.pid)]);
  return below(pid);
}

/** Whether a process exists; a zombie does not count. */
export function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

function parentOf(pid: string): number | undefined {
  try {
    return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  } catch {
    return undefined;
  }
}

/** The environment and start command that `local show` prints for a subscriber's program. */
export function printedFor(subscriber: string, details: string) {
  const [, block = ""] = details.split(`For the subscriber ${subscriber}, `);
  const [own = ""] = block.split("\n\n");
  const pairs = [...own.matchAll(/^ {2}export (.*)$/gm)].flatMap(([, line = ""]) => line.split(" "));
  const environment: Readonly<Record<string, string>> = Object.fromEntries(
    pairs.map((pair) => pair.split(/=(.*)/s)),
  );
  return { environment, command: /^ {2}(npx node .*)$/m.exec(own)?.[1] };
}
