import { fieldsOf, numberOf, optionalText, present, textOf } from "../core/parse.ts";
import { identify } from "../event/envelope.ts";
import type { State } from "../state/state.ts";
import type { FoundEvent, Orphan } from "./drift.ts";
import type { Run } from "./reconciliation.ts";

/** What scheduled runs observed of an orphan. Runs are named by their start, ISO 8601. */
export type OrphanMark = Orphan & { readonly first: string; readonly lastRun: string };

/** A deletion found by two consecutive scheduled runs. Times are ISO 8601. */
export type FoundDeletion = Orphan & {
  readonly decidedAt: string;
  /** When the provider confirmed that the account is gone and the event was sent; absent before that. */
  readonly reportedAt?: string;
};

/** Maximum deletions that reconciliation may find in seven days without an operator. */
export type MaxDeletions = {
  /** Percentage of the accounts that the last complete run listed. */
  readonly percent: number;
  readonly atLeast: number;
};

/**
 * The mark after a scheduled run. It starts over if the previous run did not renew it or the account has
 * changed.
 */
export function renewMark(known: OrphanMark | undefined, orphan: Orphan, run: Run): OrphanMark {
  const isInRow =
    known?.version === orphan.version && [run.startedAt, run.previousAt].includes(known.lastRun);
  return { ...orphan, first: isInRow ? known.first : run.startedAt, lastRun: run.startedAt };
}

const sevenDaysInMs = 7 * 86_400_000;

/** The deletions of the last seven days, which count towards the limit. */
export function recentDeletions(all: readonly FoundDeletion[], now: Date): readonly FoundDeletion[] {
  return all.filter(({ decidedAt }) => now.getTime() - Date.parse(decidedAt) < sevenDaysInMs);
}

/**
 * The orphans of two consecutive scheduled runs that are not among the recent deletions.
 * @param run the latest run; a mark that it has not reached yet counts as the previous run left it
 */
export function deletionCandidates(
  marks: readonly OrphanMark[],
  recent: readonly FoundDeletion[],
  run: Run,
): readonly OrphanMark[] {
  const isOver = run.isScheduled && run.endedAt !== undefined;
  const latest = [run.isScheduled ? run.startedAt : undefined, isOver ? undefined : run.previousAt];
  const found = new Set(recent.map(({ accountId }) => accountId));
  return marks.filter(
    ({ accountId, first, lastRun }) => first !== lastRun && latest.includes(lastRun) && !found.has(accountId),
  );
}

/** Whether candidates may be deleted without an operator. @param run the run that found them */
export function isWithinLimit(
  candidates: number,
  recent: number,
  { sizeBefore }: Run,
  { percent, atLeast }: MaxDeletions,
): boolean {
  return candidates + recent <= Math.max(atLeast, Math.floor((sizeBefore * percent) / 100));
}

/** The event that reports or undoes a deletion. It is the same until the account's state changes. */
export function deletionEvent(type: "account.deleted" | "account.restored", state: State, userId?: string) {
  const accountId = state.subject.id;
  const text = JSON.stringify(["reconciled", type, accountId, state.version]);
  return {
    kind: "accounts",
    id: identify("accounts", Buffer.from(text)),
    facts: { type, accountId, ...present({ userId: userId ?? state.userId }) },
  } as const satisfies FoundEvent;
}

/** @throws permanent failure naming the field */
export function parseOrphanMark(value: unknown): OrphanMark {
  const fields = fieldsOf(value, "mark");
  return { ...parseOrphan(fields), first: textOf(fields, "first"), lastRun: textOf(fields, "lastRun") };
}

/** @throws permanent failure naming the field */
export function parseFoundDeletion(value: unknown): FoundDeletion {
  const fields = fieldsOf(value, "deletion");
  return present<FoundDeletion>({
    ...parseOrphan(fields),
    decidedAt: textOf(fields, "decidedAt"),
    reportedAt: optionalText(fields, "reportedAt"),
  });
}

function parseOrphan(fields: ReturnType<typeof fieldsOf>): Orphan {
  return {
    accountId: textOf(fields, "accountId"),
    userId: textOf(fields, "userId"),
    version: numberOf(fields, "version"),
  };
}
