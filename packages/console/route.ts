import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Operation } from "@income-events/cli/core/command.ts";
import { CommandError, explain } from "@income-events/cli/core/command-error.ts";
import type { DeploymentOptions } from "@income-events/cli/core/deployment.ts";
import { sinceFlag } from "@income-events/cli/core/flags.ts";
import { occasionally, type Terminal } from "@income-events/cli/core/terminal.ts";
import type { EachResult, OnEach } from "@income-events/cli/dead-letters/redrive.ts";
import { type Fields, isFields, jsonIn, optionalText } from "../../domain/core/parse.ts";

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

/** A request's parameters: those of the address, and the fields of the JSON body. */
export class Asked {
  readonly fields: Fields;

  constructor(params: URLSearchParams, body: string) {
    const repeated = [...params.keys()].map((name) => [name, params.getAll(name)] as const);
    const ofAddress = repeated.map(([name, values]) => [name, values.length > 1 ? values : values[0]]);
    this.fields = { ...Object.fromEntries(ofAddress), ...parseBody(body) };
  }

  optional(name: string): string | undefined {
    return optionalText(this.fields, name);
  }

  /** @throws CommandError if it is missing or not a string */
  text(name: string): string {
    const value = this.optional(name);
    if (value !== undefined) return value;
    throw CommandError.usage(`${name} is missing.`);
  }

  /** A field that may be repeated. */
  texts(name: string): readonly string[] {
    return [this.fields[name] ?? []].flat().map(String);
  }

  is(name: string): boolean {
    return this.fields[name] === true || this.fields[name] === "yes";
  }

  /** @throws CommandError unless the expected confirmation was typed */
  checkTyped(expected: string): void {
    if (this.fields.typed === expected) return;
    throw CommandError.usage(`Type ${expected} to confirm. Nothing was done.`);
  }
}

/** The time from which a request wants to know, ISO 8601. @param fallback for example `24h` */
export function sinceIn(asked: Asked, now: Date, fallback: string): string {
  return sinceFlag(asked.optional("since") ?? fallback, now) ?? "";
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

/** A request with a body that changes nothing, except that the audit trail records a look at personal data. */
export function look(path: string, answer: Answer): Route {
  return { method: "POST", path, answer };
}

/** An answer with personal data masked, and a look that reveals them. */
export function masked(
  path: string,
  answer: (context: ConsoleContext, asked: Asked, reveal: boolean) => Promise<object>,
): readonly Route[] {
  return [
    read(path, (context, asked) => answer(context, asked, false)),
    look(`${path}/reveal`, (context, asked) => answer(context, asked, true)),
  ];
}

export function change(path: string, answer: Answer): Route {
  return { method: "POST", path, changes: true, answer };
}

/** A JSON body; empty if there is none. @throws CommandError if it is not an object */
function parseBody(text: string): Fields {
  const value = text === "" ? {} : jsonIn(text);
  if (isFields(value)) return value;
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
  run: (operation: Operation) => Promise<unknown>,
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
export type Job<Result = CommandOutcome> = {
  readonly id: string;
  readonly what: string;
  readonly of: string;
  /** ISO 8601 */
  readonly startedAt: string;
  readonly state: "running" | "done" | "failed";
  /** The last message about the progress. */
  readonly progress?: string;
  readonly results: readonly EachResult[];
  readonly result?: Result;
  readonly error?: string;
};

/** @param report called with progress messages @param onEach called with each outcome */
export type Work = (report: (text: string) => void, onEach: OnEach) => Promise<CommandOutcome>;

/** Runs a command that the user has confirmed on the page. */
export function agreed(
  operation: Operation,
  run: (operation: Operation, onEach: OnEach) => Promise<void>,
): Work {
  return (onProgress, onEach) =>
    runCommand(operation, (each) => run(each, onEach), { isAgreed: true, onProgress });
}

export type Jobs = ReturnType<typeof createJobs>;

const keptJobs = 50;

export function createJobs(now = () => new Date()) {
  const jobs = new Map<string, Job>();
  return {
    find: (id: string) => jobs.get(id),
    /** The jobs of a page, the latest first. */
    list: (of: string) => [...jobs.values()].filter((job) => job.of === of).toReversed(),
    start: (what: string, work: Work, of = ""): Job => {
      const id = randomUUID();
      const job: Job = { id, what, of, startedAt: now().toISOString(), state: "running", results: [] };
      jobs.set(id, job);
      const [oldest] = jobs.keys();
      if (jobs.size > keptJobs && oldest !== undefined) jobs.delete(oldest);
      const update = (change: (known: Job) => Partial<Job>) => {
        const known = jobs.get(id);
        if (known !== undefined) jobs.set(id, { ...known, ...change(known) });
      };
      work(
        (progress) => update(() => ({ progress })),
        (each) => update(({ results }) => ({ results: [...results, each] })),
      ).then(
        (result) => update(() => ({ state: "done", result })),
        (error: unknown) => update(() => ({ state: "failed", error: explain(error).message })),
      );
      return job;
    },
  };
}
