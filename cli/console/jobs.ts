import { randomUUID } from "node:crypto";
import { explain } from "../core/explain.ts";
import type { CommandOutcome } from "./run-command.ts";

/** Work that goes on when the page that began it is closed. */
export type Job = {
  readonly id: string;
  readonly what: string;
  readonly state: "running" | "done" | "failed";
  /** The last things that it said. */
  readonly progress: readonly string[];
  readonly result?: CommandOutcome;
  readonly error?: string;
};

export type Jobs = {
  readonly start: (what: string, work: (report: (text: string) => void) => Promise<CommandOutcome>) => Job;
  readonly find: (id: string) => Job | undefined;
};

const keptJobs = 50;
const keptProgress = 20;

export function createJobs(): Jobs {
  const jobs = new Map<string, Job>();
  const update = (id: string, change: (job: Job) => Job) => {
    const job = jobs.get(id);
    if (job !== undefined) jobs.set(id, change(job));
  };
  return {
    find: (id) => jobs.get(id),
    start: (what, work) => {
      const job: Job = { id: randomUUID(), what, state: "running", progress: [] };
      jobs.set(job.id, job);
      const [oldest] = jobs.keys();
      if (jobs.size > keptJobs && oldest !== undefined) jobs.delete(oldest);
      const report = (text: string) =>
        update(job.id, (known) => ({ ...known, progress: [...known.progress, text].slice(-keptProgress) }));
      work(report).then(
        (result) => update(job.id, (known) => ({ ...known, state: "done", result })),
        (error: unknown) =>
          update(job.id, (known) => ({ ...known, state: "failed", error: explain(error).message })),
      );
      return job;
    },
  };
}
