import { type Continuation, parseContinuation } from "./paging.ts";
import { fieldsOf, isFields, numberOf, optionalText, present, textOf } from "./parse.ts";

/** What a run has found so far; see `gaps.ts` for the gaps. */
export type Counts = {
  /** Users that the provider listed. */
  readonly listed: number;
  readonly missed: number;
  readonly contradicted: number;
  readonly unlisted: number;
  /** Listed, though the table knows them as deleted. */
  readonly deleted: number;
  /** Data sets that were wanted again for their age. */
  readonly reread: number;
  /** Listed items that could not be read, and users whose accounts could not. */
  readonly skipped: number;
};

function countsOf(countOf: (name: keyof Counts) => number): Counts {
  return {
    listed: countOf("listed"),
    missed: countOf("missed"),
    contradicted: countOf("contradicted"),
    unlisted: countOf("unlisted"),
    deleted: countOf("deleted"),
    reread: countOf("reread"),
    skipped: countOf("skipped"),
  };
}

export function addCounts(counts: Partial<Counts>, more: Partial<Counts>): Counts {
  return countsOf((name) => (counts[name] ?? 0) + (more[name] ?? 0));
}

/** One run through the provider's list: the checkpoint from which the next tick goes on. */
export type Run = {
  /** How often it was written: each step is written only over the one before it. */
  readonly version: number;
  /** ISO 8601; names the run. */
  readonly startedAt: string;
  readonly endedAt?: string;
  /** Where the page that is being compared begins; absent: the first page. */
  readonly page?: Continuation;
  /** The last user of that page that was compared; absent: none yet. */
  readonly after?: string;
  readonly counts: Counts;
};

/** Whether there is something to do now: a run that has not ended, or the time for the next one. */
export function isDue(run: Run | undefined, everyHours: number, now: Date): boolean {
  if (run?.endedAt === undefined) return true;
  return now.getTime() - Date.parse(run.startedAt) >= everyHours * 3_600_000;
}

export function startRun(before: Run | undefined, now: Date): Run {
  return { version: before?.version ?? 0, startedAt: now.toISOString(), counts: countsOf(() => 0) };
}

/** The run after some users of its page. */
export function advance(run: Run, after: string | undefined, found: Partial<Counts>): Run {
  return { ...run, ...present({ after: after ?? run.after }), counts: addCounts(run.counts, found) };
}

/** The run at its next page, or at its end where there is none. */
export function turnPage(run: Run, next: Continuation | undefined, now: Date): Run {
  const { after: _, ...rest } = run;
  return next === undefined ? endRun(rest, now) : { ...rest, page: next };
}

export function endRun(run: Run, now: Date): Run {
  return { ...run, endedAt: now.toISOString() };
}

/** What the table lacked or had wrong. */
export function gapOfRun({ counts: { missed, contradicted, unlisted } }: Run): number {
  return missed + contradicted + unlisted;
}

/** @throws permanent failure naming the field */
export function parseRun(value: unknown): Run {
  const fields = fieldsOf(value, "run");
  const counts = fieldsOf(fields.counts, "run.counts");
  return present<Run>({
    version: numberOf(fields, "version"),
    startedAt: textOf(fields, "startedAt"),
    endedAt: optionalText(fields, "endedAt"),
    page: isFields(fields.page) ? parseContinuation(fields.page) : undefined,
    after: optionalText(fields, "after"),
    counts: countsOf((name) => numberOf(counts, name)),
  });
}
