import { createHash } from "node:crypto";
import {
  fieldsOf,
  isFields,
  numberOf,
  optionalNumber,
  optionalText,
  present,
  textOf,
} from "../core/parse.ts";
import { type Continuation, parseContinuation } from "../fetch/paging.ts";
import type { Missed } from "./missed.ts";

/** The findings of a run so far; see `drift.ts` for each record. */
export type Counts = {
  /** Users that the provider listed. */
  readonly listed: number;
  /** Accounts that the provider listed. */
  readonly accounts: number;
  readonly missing: number;
  readonly conflicting: number;
  readonly orphaned: number;
  /** Listed by the provider but deleted in the table. */
  readonly deleted: number;
  /** Documents to read again because of their age, or because their webhook may have been lost. */
  readonly reread: number;
  /** Listed items, and users' account lists, that could not be read. */
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

/** One run through the provider's list: the checkpoint from which the next tick continues. */
export type Run = ReturnType<typeof parseRun>;

/** Correlation id of data that a run read again. A missed event has its own id. */
export function correlationOfRun(startedAt: string): string {
  return `reconciliation.${startedAt}`;
}

/** Identifies a subject within a run by a digest, so that a paused run does not name an erased one. */
export function markOf({ startedAt }: Run, id: string): string {
  return createHash("sha256")
    .update(JSON.stringify([startedAt, id]))
    .digest("hex")
    .slice(0, 8);
}

/**
 * Whether a run is in progress or the next one is due. Runs caused by an operator or lost webhooks do not
 * postpone scheduled ones, because only scheduled runs find deletions.
 */
export function isDue(run: Run | undefined, everyHours: number, now: Date): boolean {
  if (run?.endedAt === undefined) return true;
  const last = run.isScheduled ? run.startedAt : (run.previousAt ?? run.startedAt);
  return now.getTime() - Date.parse(last) >= everyHours * 3_600_000;
}

/** Whether a run should have ended or started long ago: twice the interval between runs has passed. */
export function isOverdue(run: Run | undefined, everyHours: number, now: Date): boolean {
  return run !== undefined && now.getTime() - Date.parse(run.startedAt) >= 2 * everyHours * 3_600_000;
}

/** Whether enough time has passed since the last run caused by lost webhooks. */
export function mayMakeUp(run: Run, atMostEveryMinutes: number, now: Date): boolean {
  const { lastMissed } = run;
  return (
    lastMissed === undefined ||
    now.getTime() - Date.parse(lastMissed.startedAt) >= atMostEveryMinutes * 60_000
  );
}

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

/**
 * The run after some users of its page, or some company accounts.
 * @param last id of the last one; undefined if there was none
 */
export function advance(run: Run, last: string | undefined, found: Partial<Counts>): Run {
  if (last === undefined) return run;
  const { stalls: _, ...rest } = run;
  return { ...rest, after: markOf(run, last), counts: addCounts(run.counts, found) };
}

/** The run after a tick that failed at its first user. */
export function stall(run: Run): Run {
  return { ...run, stalls: (run.stalls ?? 0) + 1 };
}

/** The run after an answer that was not ready. @param seconds the wait that the provider asked for */
export function postpone(run: Run, seconds: number, now: Date): Run {
  return { ...run, notBefore: new Date(now.getTime() + seconds * 1_000).toISOString() };
}

/** Whether the provider asked to wait longer. */
export function isPostponed(run: Run | undefined, now: Date): boolean {
  return run?.notBefore !== undefined && now.getTime() < Date.parse(run.notBefore);
}

/** Whether a user fails repeatedly, so that the run must skip it. */
export function isStuck({ stalls = 0 }: Run): boolean {
  return stalls >= 3;
}

/**
 * The run at its next page, or at its end if there is none. After lost webhooks, company accounts follow the
 * last page.
 * @param skipped items of the page that could not be read
 */
export function turnPage(run: Run, next: Continuation | undefined, skipped: number, now: Date): Run {
  const turned = { ...withoutPosition(run), counts: addCounts(run.counts, { skipped }) };
  if (next !== undefined) return { ...turned, page: next };
  const isLoss = run.missed !== undefined || run.rereads === true;
  return isLoss && run.companies === undefined ? { ...turned, companies: true } : endRun(turned, now);
}

/** The run after its end. @param failure why it ended before the end of the list */
export function endRun(run: Run, now: Date, failure?: string): Run {
  return { ...withoutPosition(run), endedAt: now.toISOString(), ...present({ failure }) };
}

function withoutPosition({ page: _, after: __, companies: ___, stalls: ____, ...run }: Run) {
  return run;
}

/** Total number of differences between the table and the provider's list. */
export function driftOfRun({ counts: { missing, conflicting, orphaned } }: Run): number {
  return missing + conflicting + orphaned;
}

/** @throws permanent failure naming the field */
export function parseRun(value: unknown) {
  const fields = fieldsOf(value, "run");
  const counts = fieldsOf(fields.counts, "run.counts");
  return present({
    /** Number of writes. Each write requires the previous version. */
    version: numberOf(fields, "version"),
    /** ISO 8601; identifies the run. */
    startedAt: textOf(fields, "startedAt"),
    /** Whether the schedule started it. Only scheduled runs find deletions. */
    isScheduled: fields.isScheduled === true,
    /** When the previous scheduled run started. */
    previousAt: optionalText(fields, "previousAt"),
    /** The period of lost webhooks that caused the run; absent if it has another cause. */
    missed: fields.missed === undefined ? undefined : parseMissed(fields.missed),
    /** When the last run caused by lost webhooks started, and the end of the period it covered. */
    lastMissed: fields.lastMissed === undefined ? undefined : parseLastMissed(fields.lastMissed),
    /** Number of accounts that the last complete run listed. */
    sizeBefore: numberOf(fields, "sizeBefore"),
    endedAt: optionalText(fields, "endedAt"),
    /** Why the run ended before the end of the list; absent if it did not. */
    failure: optionalText(fields, "failure"),
    /** Where the current page starts; absent for the first page. */
    page: isFields(fields.page) ? parseContinuation(fields.page) : undefined,
    /** The mark of the last compared user on that page, or company account; absent before the first. */
    after: optionalText(fields, "after"),
    /**
     * Whether to read documents again that were last read more than a day before the run, because their
     * webhooks may have been lost.
     */
    rereads: fields.rereads === true ? true : undefined,
    /** Whether all users are compared, and the company accounts, which the provider does not list, follow. */
    companies: fields.companies === true ? true : undefined,
    /** Number of ticks that failed at the user after that one; absent if none did. */
    stalls: optionalNumber(fields, "stalls"),
    /** When the provider said to call again (ISO 8601), if an answer was not ready. */
    notBefore: optionalText(fields, "notBefore"),
    counts: countsOf((name) => numberOf(counts, name)),
  });
}

function parseMissed(value: unknown): Missed {
  const fields = fieldsOf(value, "run.missed");
  return { from: textOf(fields, "from"), until: textOf(fields, "until") };
}

function parseLastMissed(value: unknown) {
  const fields = fieldsOf(value, "run.lastMissed");
  return { startedAt: textOf(fields, "startedAt"), until: textOf(fields, "until") } as const;
}
