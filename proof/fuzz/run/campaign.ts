import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Target } from "../target.ts";
import { type Finding, findingOf } from "./assess.ts";
import { bundleTarget } from "./bundle-target.ts";
import { lastLines, readReports } from "./follow.ts";
import { type Report, reportDescriptor } from "./watch.ts";

export type Campaign = {
  readonly name: string;
  /** The target's module, which exports `target`. */
  readonly file: string;
  readonly inputs: number;
  /** The same seed gives the same inputs, where the code does the same each time. */
  readonly seed: number;
  /** An input that takes longer hangs. */
  readonly secondsPerInput: number;
  readonly mostResidentBytes: number;
  /** The heap may be so much larger after all inputs than after a tenth of them. */
  readonly mostGrowthBytes: number;
  /** Inputs that break a promise are written there. */
  readonly findings: string;
  readonly signal: AbortSignal;
  readonly onProgress: (report: Report) => void;
};

export type CampaignResult = {
  readonly name: string;
  readonly inputs: number;
  /** Inputs that reached code which none had reached before, seeds among them. */
  readonly corpus: number;
  readonly growthBytes: number;
  readonly residentBytes: number;
  readonly found: Finding | undefined;
  /** What the fuzzer wrote in the end. */
  readonly said: string;
};

const scratch = join(import.meta.dirname, "../../../.local");
const jazzer = createRequire(import.meta.url).resolve("@jazzer.js/core/dist/cli.js");

/** Fuzzes one target, in a process of its own. @throws where the signal ends it */
export async function fuzz(target: Target, campaign: Campaign): Promise<CampaignResult> {
  mkdirSync(scratch, { recursive: true });
  mkdirSync(campaign.findings, { recursive: true });
  // Below the repository: what the bundle leaves outside is found there.
  const directory = mkdtempSync(join(scratch, "fuzz-"));
  try {
    await bundleTarget(campaign.file, target, campaign.inputs, join(directory, "target.cjs"));
    const corpus = join(directory, "corpus");
    mkdirSync(corpus);
    for (const [index, seed] of target.seeds.entries()) writeFileSync(join(corpus, `seed-${index}`), seed);
    writeFileSync(join(directory, "words"), dictionaryOf(target.words ?? []));
    const ended = await follow(commandLine(target, campaign, directory), campaign);
    return { name: campaign.name, ...ended, corpus: readdirSync(corpus).length };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function follow(
  args: readonly string[],
  campaign: Campaign,
): Promise<Omit<CampaignResult, "name" | "corpus">> {
  campaign.signal.throwIfAborted();
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe", "pipe"] });
  const kill = () => void child.kill("SIGKILL");
  campaign.signal.addEventListener("abort", kill, { once: true });
  try {
    const exit = new Promise<number | null>((resolve) => child.once("close", resolve));
    const [said, reports, exitCode] = await Promise.all([
      lastLines(child.stderr),
      readReports(child.stdio[reportDescriptor], campaign, kill),
      exit,
    ]);
    campaign.signal.throwIfAborted();
    const { inputs, residentBytes, growthBytes } = reports;
    const found = findingOf({ exitCode, said, isSilent: reports.isSilent, growthBytes }, campaign);
    return { inputs, residentBytes, growthBytes, found, said };
  } finally {
    campaign.signal.removeEventListener("abort", kill);
    kill();
  }
}

function commandLine(
  { maxBytes = 4_096, setsOff = [] }: Target,
  { name, inputs, seed, secondsPerInput, mostResidentBytes, findings }: Campaign,
  directory: string,
): readonly string[] {
  return [
    "--expose-gc",
    `--import=${join(import.meta.dirname, "load-addon.ts")}`,
    jazzer,
    join(directory, "target.cjs"),
    join(directory, "corpus"),
    `--timeout=${secondsPerInput * 1000}`,
    // The first hooks the file system, which Node's own loader uses as well.
    ...["path-traversal", ...setsOff].map((detector) => `--disableBugDetectors=${detector}`),
    "--",
    `-runs=${inputs}`,
    `-seed=${seed}`,
    `-max_len=${maxBytes}`,
    `-rss_limit_mb=${Math.ceil(mostResidentBytes / 1_048_576)}`,
    `-dict=${join(directory, "words")}`,
    `-artifact_prefix=${join(findings, `${name}-`)}`,
  ];
}

/** As libFuzzer reads it: a quoted word a line, its bytes escaped. */
function dictionaryOf(words: readonly string[]): string {
  const escaped = (word: string) =>
    [...Buffer.from(word)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
  return words.map((word) => `"${escaped(word)}"\n`).join("");
}
