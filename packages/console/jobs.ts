import { randomUUID } from "node:crypto";
import { explain } from "@income-events/cli/core/explain.ts";
import type { EachResult, OnEach } from "@income-events/cli/dead-letters/purge.ts";
import type { CommandOutcome } from "./run-command.ts";

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

export type Jobs = {
  readonly start: (what: string, work: Work, of?: string) => Job;
  readonly find: (id: string) => Job | undefined;
  /** The jobs of a page, the latest first. */
  readonly list: (of: string) => readonly Job[];
  readonly resultsOf: (id: string) => readonly EachResult[];
};

const keptJobs = 50;
const keptProgress = 20;

export function createJobs(now = () => new Date()): Jobs {
  const jobs = new Map<string, Job>();
  const results = new Map<string, EachResult[]>();
  const update = (id: string, change: (job: Job) => Job) => {
    const job = jobs.get(id);
    if (job !== undefined) jobs.set(id, change(job));
  };
  return {
    find: (id) => jobs.get(id),
    list: (of) => [...jobs.values()].filter((job) => job.of === of).toReversed(),
    resultsOf: (id) => results.get(id) ?? [],
    start: (what, work, of = "") => {
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
