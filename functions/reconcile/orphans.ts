import { batchesOf } from "../../domain/core/batches.ts";
import { FailureError, isAttempt } from "../../domain/core/failures.ts";
import type { Subject } from "../../domain/event/subjects.ts";
import type { Orphan, Orphaned } from "../../domain/reconcile/drift.ts";
import {
  deletionCandidates,
  deletionEvent,
  type FoundDeletion,
  isWithinLimit,
  type OrphanMark,
  recentDeletions,
  renewMark,
} from "../../domain/reconcile/orphans.ts";
import type { Restored } from "../../domain/reconcile/reconcile-outcome.ts";
import { correlationOfRun, type Run } from "../../domain/reconcile/reconciliation.ts";
import { isRestorable } from "../../domain/state/state.ts";
import type { ReconcilerDependencies } from "./dependencies.ts";
import { feed } from "./feed.ts";

/** Marks accounts missing from the provider's lists in a scheduled run. One run has no other effect. */
export async function markOrphans(
  found: readonly Orphaned[],
  run: Run,
  { orphans }: ReconcilerDependencies,
): Promise<void> {
  if (!run.isScheduled) return;
  await Promise.all(
    found.map(async ({ orphan }) =>
      orphans.saveMark(renewMark(await orphans.mark(orphan.accountId), orphan, run)),
    ),
  );
}

/**
 * Turns orphans of two consecutive scheduled runs into deletions, unless there are too many. Idempotent.
 * @param run a run that has ended
 */
export async function findDeletions(run: Run, dependencies: ReconcilerDependencies): Promise<void> {
  if (!run.isScheduled) return;
  const { settings, log } = dependencies;
  const { candidates, recent } = await loadCandidates(run, dependencies);
  if (candidates.length === 0) return;
  if (isWithinLimit(candidates.length, recent.length, run, settings.maxDeletions))
    return decideOn(candidates, run, dependencies);
  const correlationId = correlationOfRun(run.startedAt);
  log("DELETIONS_HELD", { correlationId, count: candidates.length });
}

/**
 * Accepts deletions that were held because there were too many.
 * @returns the number of deletions
 */
export async function acceptDeletions(
  run: Run | undefined,
  dependencies: ReconcilerDependencies,
): Promise<number> {
  if (run === undefined) return 0;
  const { candidates } = await loadCandidates(run, dependencies);
  await decideOn(candidates, run, dependencies);
  return candidates.length;
}

async function loadCandidates(run: Run, { orphans, now }: ReconcilerDependencies) {
  const recent = recentDeletions(await orphans.deletions(), now());
  return { recent, candidates: deletionCandidates(await orphans.marks(), recent, run) };
}

/** Maximum number of concurrent requests. */
const atOnce = 25;

async function decideOn(
  candidates: readonly OrphanMark[],
  run: Run,
  { orphans, now, log }: ReconcilerDependencies,
): Promise<void> {
  const decidedAt = now().toISOString();
  for (const some of batchesOf(candidates, { maxItems: atOnce })) {
    await Promise.all(
      some.map(async ({ accountId, userId, version }) => {
        await orphans.saveDeletion({ accountId, userId, version, decidedAt });
        await orphans.remove("mark", accountId);
      }),
    );
  }
  log("DELETIONS_FOUND", { correlationId: correlationOfRun(run.startedAt), count: candidates.length });
}

/**
 * Asks the provider about deletions that were found hours ago, and reports those whose accounts it doesn't
 * know either.
 * @returns false if the time was over before all were checked
 * @throws a waiting failure, for example for the provider's rate
 */
export async function verifyDeletions(
  dependencies: ReconcilerDependencies,
  isTimeLeft: () => boolean,
): Promise<boolean> {
  const { orphans, settings, now, log } = dependencies;
  const before = now().getTime() - settings.askAgainAfterHours * 3_600_000;
  const due = (await orphans.deletions()).filter(
    ({ decidedAt, reportedAt }) => reportedAt === undefined && Date.parse(decidedAt) <= before,
  );
  for (const [index, deletion] of due.entries()) {
    if (index > 0 && !isTimeLeft()) return false;
    try {
      await verify(deletion, dependencies);
    } catch (error) {
      if (!(error instanceof FailureError)) throw error;
      const { failure } = error;
      if (failure.type === "retryable" && !isAttempt(error)) throw error;
      // The next tick retries; one account must not block the others.
      log("RECONCILIATION_SKIPPED", { subject: accountOf(deletion), reason: failure.reason });
    }
  }
  return true;
}

async function verify(deletion: FoundDeletion, dependencies: ReconcilerDependencies): Promise<void> {
  const { orphans, versionedRecords, lists, now } = dependencies;
  const { accountId, userId, version } = deletion;
  const state = await versionedRecords.loadState(accountOf(deletion));
  // Any change of the account since it was missing cancels the deletion.
  const isUnheard = state?.version === version && !state.deleted;
  if (!isUnheard || (await lists.knowsAccount(accountId))) return orphans.remove("deletion", accountId);
  await feed([deletionEvent("account.deleted", state, userId)], dependencies);
  await orphans.saveDeletion({ ...deletion, reportedAt: now().toISOString() });
}

function accountOf({ accountId }: Orphan): Subject {
  return { kind: "account", id: accountId };
}

/**
 * Reverts deletions that only reconciliation reported, and drops those that are not verified yet. A deletion
 * whose event has not taken effect yet stays for a later call.
 * @param ids of accounts; undefined: all deletions that were found within 30 days
 * @returns the number of restored accounts, and the ids of the others
 */
export async function restoreAccounts(
  ids: readonly string[] | undefined,
  dependencies: ReconcilerDependencies,
): Promise<Restored> {
  const { orphans, versionedRecords } = dependencies;
  const known = new Map((await orphans.deletions()).map((each) => [each.accountId, each]));
  const wanted = ids ?? [...known.keys()];
  const [others, underWay]: [string[], string[]] = [[], []];
  for (const some of batchesOf(wanted, { maxItems: atOnce })) {
    await Promise.all(
      some.map(async (id) => {
        const state = await versionedRecords.loadState({ kind: "account", id });
        if (state?.deleted === false && known.get(id)?.reportedAt !== undefined) {
          underWay.push(id);
          return;
        }
        if (state !== undefined && isRestorable(state))
          await feed([deletionEvent("account.restored", state)], dependencies);
        else others.push(id);
        await orphans.remove("deletion", id);
      }),
    );
  }
  return { restored: wanted.length - others.length - underWay.length, others, underWay };
}
