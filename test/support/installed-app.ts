import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Program, startProgram } from "./program.ts";
import { type Registry, startRegistry } from "./registry.ts";

const runFile = promisify(execFile);
const repository = join(import.meta.dirname, "../..");
/** Persists between runs, so that npm's cache is warm. */
const kept = join(repository, ".local/registry");

/** Packages for npm: this repository's as files, all others from a local registry. */
export type Source = AsyncDisposable & {
  /** A folder of its own, which is removed with it. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly registry: Registry;
  /** File of a package: `cdk`, `subscriber`, `local-stack`. */
  readonly fileOf: (name: string) => string;
};

/** Dependencies of an app that `init` writes. */
const packagesOfApps = ["cdk", "subscriber", "local-stack"];

/**
 * Packs packages into a new folder, and starts the registry.
 * @param name beginning of the folder's name
 */
export async function startSource(
  name: string,
  packages: readonly string[] = packagesOfApps,
): Promise<Source> {
  const folder = mkdtempSync(join(tmpdir(), name));
  await runFile(process.execPath, [join(repository, "scripts/pack.ts"), ...packages, "--to", folder]);
  const registry = await startRegistry(repository, join(kept, "files"));
  const quiet = { npm_config_audit: "false", npm_config_fund: "false", npm_config_update_notifier: "false" };
  return {
    folder,
    env: {
      ...withoutNpm(process.env),
      ...quiet,
      PATH: `${join(process.execPath, "..")}:${process.env.PATH}`,
      npm_config_registry: registry.url,
      npm_config_cache: join(kept, "npm-cache"),
    },
    registry,
    fileOf: (name) => join(folder, `income-events-${name}-0.1.0.tgz`),
    [Symbol.asyncDispose]: async () => {
      await registry[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
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

/**
 * Starts an app that stays up on this machine.
 * @param command as `npm run dev -- …`
 */
export function start({ env }: Pick<Source, "env">, cwd: string, command: readonly string[]): Program {
  return startProgram(command, { cwd, env, isGroup: true });
}

/** Any free port for each server, because others may run here. */
export const freePorts = ["api", "aws", "sandbox", "control", "console"].flatMap((name) => [
  `--${name}-port`,
  "0",
]);
