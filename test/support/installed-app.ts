import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Registry, startRegistry } from "../../scripts/registry/registry.ts";

const runFile = promisify(execFile);
const repository = join(import.meta.dirname, "../..");
/** Persists between runs, so that npm's cache is warm. */
const kept = join(repository, ".local/registry");

/** Packages for npm: this repository's as files, all others from a local registry. */
export type Source = AsyncDisposable & {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly registry: Registry;
  /** File of a package: `cdk`, `subscriber`, `local-stack`. */
  readonly fileOf: (name: string) => string;
};

/** Dependencies of an app that `init` writes. */
const packagesOfApps = ["cdk", "subscriber", "local-stack"];

/** Packs packages into a folder, and starts the registry. */
export async function startSource(
  folder: string,
  packages: readonly string[] = packagesOfApps,
): Promise<Source> {
  await runFile(process.execPath, [join(repository, "scripts/pack.ts"), ...packages, "--to", folder]);
  const registry = await startRegistry(repository, join(kept, "files"));
  const quiet = { npm_config_audit: "false", npm_config_fund: "false", npm_config_update_notifier: "false" };
  return {
    env: {
      ...withoutNpm(process.env),
      ...quiet,
      PATH: `${join(process.execPath, "..")}:${process.env.PATH}`,
      npm_config_registry: registry.url,
      npm_config_cache: join(kept, "npm-cache"),
    },
    registry,
    fileOf: (name) => join(folder, `income-events-${name}-0.1.0.tgz`),
    [Symbol.asyncDispose]: () => registry[Symbol.asyncDispose](),
  };
}

/** Removes npm's variables: they are for the outer `npm run`. */
function withoutNpm(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(
    ([name]) => !/^(npm_|INIT_CWD|NODE_OPTIONS|VITEST|NODE_ENV)/i.test(name),
  );
  return Object.fromEntries(kept);
}

/**
 * Runs a program to its end.
 * @returns its output
 * @throws with the output if it fails
 */
export async function run(
  { env }: Pick<Source, "env">,
  cwd: string,
  [program = "", ...args]: readonly string[],
): Promise<string> {
  const { stdout, stderr } = await runFile(program, args, { cwd, env, maxBuffer: 64 * 1024 * 1024 });
  return stdout + stderr;
}

/** An app that stays up on this machine. */
export type Running = AsyncDisposable & {
  /** Resolves with the first printed line after a position that matches the pattern. */
  readonly printed: (pattern: RegExp, after?: number) => Promise<string>;
  /** Number of printed lines. */
  readonly count: () => number;
  /** All printed lines. */
  readonly lines: () => readonly string[];
};

/** @param command as `npm run dev -- …` */
export function start(
  { env }: Pick<Source, "env">,
  cwd: string,
  [program = "", ...args]: readonly string[],
): Running {
  const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  const lines: string[] = [];
  const listeners = new Set<() => void>();
  const ended = once(child, "close");
  for (const stream of [child.stdout, child.stderr]) follow(stream, lines, listeners);
  return {
    count: () => lines.length,
    lines: () => lines,
    printed: (pattern, after = 0) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const line = lines.slice(after).find((each) => pattern.test(each));
          if (line === undefined) return;
          listeners.delete(look);
          resolve(line);
        };
        listeners.add(look);
        look();
        void ended.then(() =>
          reject(new Error(`it ended before it printed ${pattern}:\n${lines.join("\n")}`)),
        );
      }),
    [Symbol.asyncDispose]: async () => {
      interrupt(child);
      await ended;
    },
  };
}

function follow(stream: NodeJS.ReadableStream, lines: string[], listeners: ReadonlySet<() => void>): void {
  let rest = "";
  stream.setEncoding("utf8");
  stream.on("data", (text: string) => {
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
    for (const listener of [...listeners]) listener();
  });
}

/** Interrupts npm and everything it started, as Ctrl-C does. */
function interrupt({ pid }: ChildProcess): void {
  if (pid !== undefined) process.kill(-pid, "SIGINT");
}

/** Any free port for each server, because others may run here. */
export const freePorts = ["api", "aws", "sandbox", "control", "console"].flatMap((name) => [
  `--${name}-port`,
  "0",
]);
