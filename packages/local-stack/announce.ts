import { globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { type PipelineOutputs, pipelinesIn } from "./outputs.ts";
import type { LocalStack } from "./stack.ts";

/** Where commands look for systems that stay up on this machine. Tests name a directory of their own. */
const runningSystemsDirectory =
  process.env.INCOME_EVENTS_RUNNING ?? join(projectDirectory(), ".local/running");

/** The repository, or the folder that the packaged program is run in. */
function projectDirectory(): string {
  return import.meta.filename.endsWith(".ts") ? join(import.meta.dirname, "../..") : process.cwd();
}

/** What is known of a system beside its stack. */
export type Surroundings = {
  /** The directory of the functions' logs; absent: they are in memory only. */
  readonly logs?: string;
  /** All addresses, for people. */
  readonly details?: string;
  /** Which of the stack's; absent: the first. */
  readonly pipeline?: PipelineOutputs;
  /** The provider, with its first token, and the address that makes it fail. */
  readonly sandbox?: { readonly baseUrl: string; readonly token: string; readonly control?: string };
};

/**
 * Writes a file that shows commands where a system is and how to use it; its credentials are worth nothing else.
 * @returns takes the file away again
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
    ...(logs === undefined ? {} : { logs: resolve(logs) }),
    ...(details !== undefined && { details }),
    ...(sandbox === undefined
      ? {}
      : { sandbox: { baseUrl: sandbox.baseUrl, token: sandbox.token, control: sandbox.control } }),
  };
  mkdirSync(runningSystemsDirectory, { recursive: true });
  // Renamed into place, so that nobody reads half of it.
  const draft = `${file}.draft`;
  writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, file);
  return () => rmSync(file, { force: true });
}

/** @param id of the pipeline; empty where the stack has one */
export function announcementFile(stack: string, id: string): string {
  return join(
    runningSystemsDirectory,
    `${[stack, ...(id === "" ? [] : [id])].join("-")}-${process.pid}.json`,
  );
}

const announced = z.object({ pid: z.number(), stack: z.string(), endpoint: z.string() });

/** A system that stays up on this machine. */
export type RunningSystem = z.output<typeof announced>;

/** Those that run now: one that was killed could not take its file away. */
export function findRunningSystems(): readonly RunningSystem[] {
  return globSync("*.json", { cwd: runningSystemsDirectory }).flatMap((name) => {
    const system = readAnnounced(join(runningSystemsDirectory, name));
    return system !== undefined && isAlive(system.pid) ? [system] : [];
  });
}

/** Undefined where it ends at this moment, and has taken its file away. */
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
