import { fieldsOf, numberOf, optionalText, present, textOf } from "../core/parse.ts";
import { identify } from "../event/identify.ts";
import type { State } from "../state/state.ts";
import type { FoundEvent, Orphan } from "./drift.ts";
import type { Run } from "./reconciliation.ts";

/** What scheduled runs saw of an orphan. Runs are named by their beginning, ISO 8601. */
export type OrphanMark = Orphan & { readonly first: string; readonly lastRun: string };

/** A deletion that follows from two scheduled runs in a row. Times are ISO 8601. */
export type FoundDeletion = Orphan & {
  readonly decidedAt: string;
  /** When the provider did not know the account either, and its event was sent; absent: it is still to be asked. */
  readonly reportedAt?: string;
};

/** How many deletions reconciliation may find in seven days without an operator. */
export type MaxDeletions = {
  /** Of the accounts that the last complete run listed. */
  readonly percent: number;
  readonly atLeast: number;
};

/** A mark as a scheduled run renews it. One that the run before did not renew, or whose account was heard of, starts over. */
export function renewMark(known: OrphanMark | undefined, orphan: Orphan, run: Run): OrphanMark {
  const isInRow =
    known?.version === orphan.version && [run.startedAt, run.previousAt].includes(known.lastRun);
  return { ...orphan, first: isInRow ? known.first : run.startedAt, lastRun: run.startedAt };
}

const sevenDaysInMs = 7 * 86_400_000;

/** The deletions that count against the limit. */
export function recentDeletions(all: readonly FoundDeletion[], now: Date): readonly FoundDeletion[] {
  return all.filter(({ decidedAt }) => now.getTime() - Date.parse(decidedAt) < sevenDaysInMs);
}

/**
 * The orphans of two scheduled runs in a row that are no recent deletion yet.
 * @param run the latest; a mark that it has not come to yet counts as its predecessor left it
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

/** Whether candidates may become deletions without an operator. @param run the one that found them */
export function isWithinLimit(
  candidates: number,
  recent: number,
  { sizeBefore }: Run,
  { percent, atLeast }: MaxDeletions,
): boolean {
  return candidates + recent <= Math.max(atLeast, Math.floor((sizeBefore * percent) / 100));
}

/** The event that reports a deletion, or takes it back; the same each time until the account's state moves on. */
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
