import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Operation } from "@income-events/cli/core/command.ts";
import { CommandError, explain } from "@income-events/cli/core/command-error.ts";
import type { DeploymentOptions } from "@income-events/cli/core/deployment.ts";
import { occasionally, type Terminal } from "@income-events/cli/core/terminal.ts";
import type { EachResult, OnEach } from "@income-events/cli/dead-letters/redrive.ts";
import { type Fields, isFields } from "../../domain/core/parse.ts";

export type ConsoleContext = {
  readonly operation: Operation;
  /** The options that selected the deployment; remedies repeat them. */
  readonly options: DeploymentOptions;
  /** A settings file to compare with, instead of the stage's own. */
  readonly settings?: string;
  /** Whether changes are allowed (`--write`). */
  readonly isWritable: boolean;
  readonly now: () => Date;
};

/** A request's parameters and JSON body. */
export class Asked {
  readonly params: URLSearchParams;
  readonly body: Fields;

  constructor(params: URLSearchParams, body: string) {
    this.params = params;
    this.body = parseBody(body);
  }

  param(name: string): string | undefined {
    return this.params.get(name) || undefined;
  }

  optionalText(name: string): string | undefined {
    const value = this.body[name];
    return typeof value === "string" && value !== "" ? value : undefined;
  }

  /** @throws CommandError if it is missing or not a string */
  text(name: string): string {
    const value = this.optionalText(name);
    if (value !== undefined) return value;
    throw CommandError.usage(`${name} is missing.`);
  }

  /** @throws CommandError unless the expected confirmation was typed */
  checkTyped(expected: string): void {
    if (this.body.typed === expected) return;
    throw CommandError.usage(`Type ${expected} to confirm. Nothing was done.`);
  }
}

export type Route = {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** Whether it changes the stage and needs `--write`. A read that is audited does not. */
  readonly changes?: true;
  readonly answer: (context: ConsoleContext, asked: Asked) => Promise<object>;
};

type Answer = Route["answer"];

export function read(path: string, answer: Answer): Route {
  return { method: "GET", path, answer };
}

/**
 * A request with a body that changes nothing, except that the audit trail records a look at personal data.
 */
export function look(path: string, answer: Answer): Route {
  return { method: "POST", path, answer };
}

export function change(path: string, answer: Answer): Route {
  return { method: "POST", path, changes: true, answer };
}

/** A JSON body; empty if there is none. @throws CommandError if it is not an object */
function parseBody(text: string): Fields {
  if (text === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    if (isFields(value)) return value;
  } catch {
    // The error is thrown below.
  }
  throw CommandError.usage("The body is not a JSON object.");
}

export type RunOptions = {
  /** Replaces standard input. */
  readonly input?: string;
  /** Whether the user has already confirmed on the page. */
  readonly isAgreed?: boolean;
  readonly onProgress?: (text: string) => void;
};

/** A command's output, as with `--json`; `problem` is set if it failed nevertheless. */
export type CommandOutcome = Readonly<Record<string, unknown>> & { readonly problem?: string };

/**
 * Runs a command's function with a terminal that collects its output.
 * @throws the command's error if it has no result, or if it needs a consent that was not given
 */
export async function runCommand(
  operation: Operation,
  run: (operation: Operation) => Promise<void>,
  { input = "", isAgreed = false, onProgress = () => undefined }: RunOptions = {},
): Promise<CommandOutcome> {
  let result: object | undefined;
  const keep = (data: object) => {
    result = data;
  };
  const terminal: Terminal = {
    result: keep,
    paint: (_, text) => text,
    progress: onProgress,
    step: occasionally(onProgress),
    wait: async (seconds, what) => {
      onProgress(`${what}: ${Math.ceil(seconds)} s`);
      await sleep(seconds * 1000);
    },
    confirm: async (consequence) => {
      if (isAgreed) return;
      throw CommandError.usage(typeof consequence === "string" ? consequence : await consequence());
    },
    readInput: async () => input,
  };
  try {
    await run({ ...operation, terminal });
  } catch (error) {
    if (result === undefined || !(error instanceof CommandError)) throw error;
    return { ...result, problem: error.message };
  }
  return { ...result };
}

/** Work that continues after its page is closed. */
export type Job = {
  readonly id: string;
  readonly what: string;
  readonly of: string;
  /** ISO 8601 */
  readonly startedAt: string;
  readonly state: "running" | "done" | "failed";
  /** How many have an outcome. */
  readonly count: number;
  readonly progress: readonly string[];
  readonly result?: CommandOutcome;
  readonly error?: string;
};

/** @param report called with progress messages @param onEach called with each outcome */
export type Work = (report: (text: string) => void, onEach: OnEach) => Promise<CommandOutcome>;

export type Jobs = ReturnType<typeof createJobs>;

const keptJobs = 50;
const keptProgress = 20;

export function createJobs(now = () => new Date()) {
  const jobs = new Map<string, Job>();
  const results = new Map<string, EachResult[]>();
  const update = (id: string, change: (job: Job) => Job) => {
    const job = jobs.get(id);
    if (job !== undefined) jobs.set(id, change(job));
  };
  return {
    find: (id: string) => jobs.get(id),
    /** The jobs of a page, the latest first. */
    list: (of: string) => [...jobs.values()].filter((job) => job.of === of).toReversed(),
    resultsOf: (id: string): readonly EachResult[] => results.get(id) ?? [],
    start: (what: string, work: Work, of = ""): Job => {
      const startedAt = now().toISOString();
      const job: Job = { id: randomUUID(), what, of, startedAt, state: "running", count: 0, progress: [] };
      jobs.set(job.id, job);
      const each: EachResult[] = [];
      results.set(job.id, each);
      const [oldest] = jobs.keys();
      if (jobs.size > keptJobs && oldest !== undefined) {
        jobs.delete(oldest);
        results.delete(oldest);
      }
      const onEach: OnEach = (one) => {
        each.push(one);
        update(job.id, (known) => ({ ...known, count: each.length }));
      };
      const report = (text: string) =>
        update(job.id, (known) => ({ ...known, progress: [...known.progress, text].slice(-keptProgress) }));
      work(report, onEach).then(
        (result) => update(job.id, (known) => ({ ...known, state: "done", result })),
        (error: unknown) =>
          update(job.id, (known) => ({ ...known, state: "failed", error: explain(error).message })),
      );
      return job;
    },
  };
}
