import { globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { type PipelineOutputs, pipelinesIn } from "./outputs.ts";
import type { LocalStack } from "./stack.ts";

/** Directory in which commands find running systems. Tests use their own. */
const runningSystemsDirectory =
  process.env.INCOME_EVENTS_RUNNING ?? join(projectDirectory(), ".local/running");

/** The repository, or the directory in which the packaged program runs. */
function projectDirectory(): string {
  return import.meta.filename.endsWith(".ts") ? join(import.meta.dirname, "../..") : process.cwd();
}

export type Surroundings = {
  /** Directory of the functions' logs; absent if logs are kept in memory only. */
  readonly logs?: string | undefined;
  readonly details?: string;
  /** Pipeline to announce; defaults to the first of the stack. */
  readonly pipeline?: PipelineOutputs;
  /** The sandbox, its first token, and the URL of its fault controls. */
  readonly sandbox?: { readonly baseUrl: string; readonly token: string; readonly control?: string };
};

/**
 * Writes the file from which commands read a system's addresses and credentials. The credentials work on that
 * system only.
 * @returns a function that deletes the file
 */
export function announce(stack: LocalStack, surroundings: Surroundings = {}): () => void {
  const { logs, sandbox, details, pipeline = pipelinesIn(stack.outputs)[0] } = surroundings;
  const { id = "", outputs = stack.outputs } = pipeline ?? {};
  const { name, region, gatewayUrl: endpoint, apiUrl } = stack;
  const { accessKeyId, secretAccessKey } = stack.operator;
  const file = announcementFile(name, id);
  const content = {
    pid: process.pid,
    stack: name,
    ...(id !== "" && { pipeline: id }),
    region,
    endpoint,
    credentials: { accessKeyId, secretAccessKey },
    outputs,
    directory: process.cwd(),
    apiUrl: outputs.WebhooksUrl?.replace(/\/webhooks$/, "") ?? apiUrl,
    logs: logs && resolve(logs),
    details,
    sandbox: sandbox && { baseUrl: sandbox.baseUrl, token: sandbox.token, control: sandbox.control },
  };
  mkdirSync(runningSystemsDirectory, { recursive: true });
  // Renamed into place so that no reader sees a partial file.
  const draft = `${file}.draft`;
  writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, file);
  return () => rmSync(file, { force: true });
}

/** @param id the pipeline's id; empty if the stack has only one */
export function announcementFile(stack: string, id: string): string {
  return join(
    runningSystemsDirectory,
    `${[stack, ...(id === "" ? [] : [id])].join("-")}-${process.pid}.json`,
  );
}

const announced = z.object({ pid: z.number(), stack: z.string(), endpoint: z.string() });

export type RunningSystem = z.output<typeof announced>;

/** Lists the systems that are running now. Skips files left behind by a killed system. */
export function findRunningSystems(): readonly RunningSystem[] {
  return globSync("*.json", { cwd: runningSystemsDirectory }).flatMap((name) => {
    const system = readAnnounced(join(runningSystemsDirectory, name));
    return system !== undefined && isAlive(system.pid) ? [system] : [];
  });
}

/** Returns undefined if the system has just ended and deleted its file. */
function readAnnounced(file: string): RunningSystem | undefined {
  try {
    return announced.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
