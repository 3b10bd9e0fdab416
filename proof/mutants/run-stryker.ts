import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { type GroupName, groups } from "./groups.ts";
import { sampleLines } from "./sample-lines.ts";

export type StrykerOptions = {
  readonly root: string;
  readonly group: GroupName;
  /** Narrower than the group's own. */
  readonly mutate?: string;
  /** Of its lines, 0 to 1: all by default. */
  readonly share?: number;
  /** Also what is evaluated once, when a file is loaded: each such mutant needs all tests of the group. */
  readonly isStatic: boolean;
  readonly signal?: AbortSignal;
};

/** How many mutants of a group were noticed: by a test that failed, or that never ended. */
export type Score = {
  readonly noticed: number;
  readonly all: number;
  readonly percent: number;
  /** False where the run was interrupted: others are still to be tried. */
  readonly isWhole: boolean;
};

const statuses = z.object({
  files: z.record(z.string(), z.object({ mutants: z.array(z.object({ status: z.string() })) })),
});

/**
 * Has Stryker change a group's code in every way that it knows. What was found before is kept below `.local/mutants`,
 * so that a later run tries what has changed since.
 * @returns the score so far, where the run is interrupted
 * @throws where Stryker ends without a report
 */
export async function runStryker(options: StrykerOptions): Promise<Score> {
  const { root, group, signal } = options;
  const directory = mkdtempSync(join(tmpdir(), "mutants-"));
  try {
    const config = join(directory, "stryker.json");
    const report = join(directory, "report.json");
    writeFileSync(config, JSON.stringify(configOf(options, directory, report)));
    const stryker = join(root, "node_modules", "@stryker-mutator", "core", "bin", "stryker.js");
    await run(stryker, config, options);
    const isWhole = existsSync(report);
    if (!isWhole && signal?.aborted !== true)
      throw new Error(`Stryker found no score of ${group}; it says why`);
    return scoreOf(JSON.parse(readFileSync(isWhole ? report : incrementalFile(options), "utf8")), isWhole);
  } finally {
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

const incrementalFile = ({ root, group, share }: StrykerOptions) =>
  join(root, ".local", "mutants", `${group}${share === undefined ? "" : `-${share}`}.json`);

function run(stryker: string, config: string, { root, group, signal }: StrykerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [stryker, "run", config], {
      cwd: root,
      env: { ...process.env, MUTANTS_OF: group },
      stdio: ["ignore", process.stderr, process.stderr],
      // A group of its own: Ctrl-C would reach it twice, and at the second time it writes nothing down.
      detached: true,
    });
    // It then writes down what it has found so far.
    signal?.addEventListener("abort", () => child.kill("SIGINT"), { once: true });
    child.once("error", reject);
    child.once("exit", () => {
      endGroup(child.pid);
      resolve();
    });
  });
}

/** A mutant that never ends outlives a Stryker that was interrupted. */
function endGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, "SIGKILL");
  } catch {
    // Nobody is left of it.
  }
}

function configOf(options: StrykerOptions, directory: string, report: string) {
  const { root, group, mutate = groups[group].mutate, share, isStatic } = options;
  return {
    testRunner: "vitest",
    plugins: ["@stryker-mutator/vitest-runner"],
    vitest: { configFile: "proof/mutants/vitest.config.ts", related: true },
    mutate: share === undefined ? [mutate] : sampleLines(root, mutate, share),
    coverageAnalysis: "perTest",
    ignoreStatic: !isStatic,
    incremental: true,
    incrementalFile: incrementalFile(options),
    reporters: ["json", "progress-append-only"],
    jsonReporter: { fileName: report },
    tempDirName: join(directory, "sandboxes"),
    concurrency: 2,
    timeoutMS: 20_000,
    timeoutFactor: 2,
    dryRunTimeoutMinutes: 60,
    // It would rewrite it by the interface of TypeScript 6. Nothing here needs it.
    tsconfigFile: "none.json",
    allowConsoleColors: false,
    warnings: false,
  };
}

/**
 * Reads a report of Stryker. Left out are mutants that no program could be made of, and those that it was reported to
 * leave out.
 */
export function scoreOf(report: unknown, isWhole: boolean): Score {
  const all = Object.values(statuses.parse(report).files).flatMap(({ mutants }) => mutants);
  const count = (...wanted: readonly string[]) => all.filter(({ status }) => wanted.includes(status)).length;
  const noticed = count("Killed", "Timeout");
  const tried = noticed + count("Survived", "NoCoverage");
  return { noticed, all: tried, percent: tried === 0 ? 0 : (100 * noticed) / tried, isWhole };
}
