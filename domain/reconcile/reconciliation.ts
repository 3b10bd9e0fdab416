import { createHash } from "node:crypto";
import { fieldsOf, isFields, numberOf, optionalText, present, textOf } from "../core/parse.ts";
import { type Continuation, parseContinuation } from "../fetch/paging.ts";
import type { Missed } from "./missed.ts";

/** What a run has found so far; see `drift.ts` for each record. */
export type Counts = {
  /** Users that the provider listed. */
  readonly listed: number;
  /** Accounts that the provider listed. */
  readonly accounts: number;
  readonly missing: number;
  readonly conflicting: number;
  readonly orphaned: number;
  /** Listed, though the table knows them as deleted. */
  readonly deleted: number;
  /** Documents that were requested again, for their age or because news of them may have been lost. */
  readonly reread: number;
  /** Listed items that could not be read, and users whose accounts could not. */
  readonly skipped: number;
};

function countsOf(countOf: (name: keyof Counts) => number): Counts {
  return {
    listed: countOf("listed"),
    accounts: countOf("accounts"),
    missing: countOf("missing"),
    conflicting: countOf("conflicting"),
    orphaned: countOf("orphaned"),
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
  /** Whether the schedule began it; only then are deletions found. */
  readonly isScheduled: boolean;
  /** When the scheduled run before this one began. */
  readonly previousAt?: string;
  /** The time whose lost webhooks it makes up for, where that is why it began. */
  readonly missed?: Missed;
  /** When the last run with such a reason began, and until when it made up for what was lost. */
  readonly lastMissed?: { readonly startedAt: string; readonly until: string };
  /** Accounts that the last complete run before this one listed. */
  readonly sizeBefore: number;
  readonly endedAt?: string;
  /** Why it ended before the end of the list; absent: it did not. */
  readonly failure?: string;
  /** Where the page that is being compared begins; absent: the first page. */
  readonly page?: Continuation;
  /** The mark of the last user of that page that was compared; absent: none yet. */
  readonly after?: string;
  /** Whether documents are read again that were last read over a day before the run: their webhooks may be lost. */
  readonly rereads?: true;
  /** How many ticks failed at the user after that one; absent: none. */
  readonly stalls?: number;
  readonly counts: Counts;
};

/** What data that a run had read again is reported under; what was missed is reported under its event's id. */
export function correlationOfRun(startedAt: string): string {
  return `reconciliation.${startedAt}`;
}

/** By what a run finds a user again. No id: a user who is erased while the run pauses must not be named by it. */
export function markOf({ startedAt }: Run, userId: string): string {
  return createHash("sha256")
    .update(JSON.stringify([startedAt, userId]))
    .digest("hex")
    .slice(0, 8);
}

/**
 * Whether there is something to do now: a run that has not ended, or the time for the next one. A run that an operator
 * or lost webhooks began puts no scheduled one off: only scheduled runs find deletions.
 */
export function isDue(run: Run | undefined, everyHours: number, now: Date): boolean {
  if (run?.endedAt === undefined) return true;
  const last = run.isScheduled ? run.startedAt : (run.previousAt ?? run.startedAt);
  return now.getTime() - Date.parse(last) >= everyHours * 3_600_000;
}

/** Whether a run should have ended, or the next one begun, long ago: the time between two runs has passed twice. */
export function isOverdue(run: Run | undefined, everyHours: number, now: Date): boolean {
  return run !== undefined && now.getTime() - Date.parse(run.startedAt) >= 2 * everyHours * 3_600_000;
}

/** Whether the last run that lost webhooks led to is long enough ago for the next one. */
export function mayMakeUp(run: Run, atMostEveryMinutes: number, now: Date): boolean {
  const { lastMissed } = run;
  return (
    lastMissed === undefined ||
    now.getTime() - Date.parse(lastMissed.startedAt) >= atMostEveryMinutes * 60_000
  );
}

/** Why a run begins between two of the schedule. */
export type RunCause = Partial<Pick<Run, "rereads" | "missed">>;

export function startRun(
  before: Run | undefined,
  now: Date,
  isScheduled: boolean,
  { rereads, missed }: RunCause = {},
): Run {
  const isComplete = before?.endedAt !== undefined && before.failure === undefined;
  const startedAt = now.toISOString();
  const lastMissed = missed === undefined ? before?.lastMissed : { startedAt, until: missed.until };
  return {
    version: before?.version ?? 0,
    startedAt,
    isScheduled,
    ...present({ missed, lastMissed, rereads }),
    ...present({ previousAt: before?.isScheduled ? before.startedAt : before?.previousAt }),
    sizeBefore: (isComplete ? before.counts.accounts : before?.sizeBefore) ?? 0,
    counts: countsOf(() => 0),
  };
}

/** The run after some users of its page. @param last the id of the last one; undefined where there was none */
export function advance(run: Run, last: string | undefined, found: Partial<Counts>): Run {
  if (last === undefined) return run;
  const { stalls: _, ...rest } = run;
  return { ...rest, after: markOf(run, last), counts: addCounts(run.counts, found) };
}

/** The run after a tick that failed at its first user. */
export function stall(run: Run): Run {
  return { ...run, stalls: (run.stalls ?? 0) + 1 };
}

/** Whether a user fails again and again, and the run must go on without this one. */
export function isStuck({ stalls = 0 }: Run): boolean {
  return stalls >= 3;
}

/**
 * The run at its next page, or at its end where there is none.
 * @param skipped items of the page that could not be read
 */
export function turnPage(run: Run, next: Continuation | undefined, skipped: number, now: Date): Run {
  const { after: _, ...rest } = run;
  const turned = { ...rest, counts: addCounts(run.counts, { skipped }) };
  return next === undefined ? endRun(turned, now) : { ...turned, page: next };
}

/** The run without its place in the list. @param failure why it ends before the end of the list */
export function endRun({ page: _, after: __, stalls: ___, ...run }: Run, now: Date, failure?: string): Run {
  return { ...run, endedAt: now.toISOString(), ...present({ failure }) };
}

/** What the table lacked or had wrong. */
export function driftOfRun({ counts: { missing, conflicting, orphaned } }: Run): number {
  return missing + conflicting + orphaned;
}

/** @throws permanent failure naming the field */
export function parseRun(value: unknown): Run {
  const fields = fieldsOf(value, "run");
  const counts = fieldsOf(fields.counts, "run.counts");
  return present<Run>({
    version: numberOf(fields, "version"),
    startedAt: textOf(fields, "startedAt"),
    isScheduled: fields.isScheduled === true,
    previousAt: optionalText(fields, "previousAt"),
    missed: fields.missed === undefined ? undefined : parseMissed(fields.missed),
    lastMissed: fields.lastMissed === undefined ? undefined : parseLastMissed(fields.lastMissed),
    sizeBefore: numberOf(fields, "sizeBefore"),
    endedAt: optionalText(fields, "endedAt"),
    failure: optionalText(fields, "failure"),
    page: isFields(fields.page) ? parseContinuation(fields.page) : undefined,
    after: optionalText(fields, "after"),
    rereads: fields.rereads === true || undefined,
    stalls: fields.stalls === undefined ? undefined : numberOf(fields, "stalls"),
    counts: countsOf((name) => numberOf(counts, name)),
  });
}

function parseMissed(value: unknown): Missed {
  const fields = fieldsOf(value, "run.missed");
  return { from: textOf(fields, "from"), until: textOf(fields, "until") };
}

function parseLastMissed(value: unknown): NonNullable<Run["lastMissed"]> {
  const fields = fieldsOf(value, "run.lastMissed");
  return { startedAt: textOf(fields, "startedAt"), until: textOf(fields, "until") };
}
