import { FailureError, isAttempt, isNotReady } from "../../domain/core/failures.ts";
import { type Fields, isFields, present, textsOf } from "../../domain/core/parse.ts";
import { isWebhookKind } from "../../domain/event/events.ts";
import { canonicalId } from "../../domain/event/subjects.ts";
import { findMissed, type Missed } from "../../domain/reconcile/missed.ts";
import type { ReconcileOutcome } from "../../domain/reconcile/reconcile-outcome.ts";
import {
  advance,
  correlationOfRun,
  driftOfRun,
  endRun,
  isDue,
  isOverdue,
  isPostponed,
  mayMakeUp,
  postpone,
  type Run,
  type RunCause,
  stall,
  startRun,
  turnPage,
} from "../../domain/reconcile/reconciliation.ts";
import { isOpen, isRequested, type RunRequest, requestRun } from "../../domain/reconcile/run-request.ts";
import type { ReconcilerDependencies } from "./dependencies.ts";
import { itemsLeft, readItems } from "./listed-items.ts";
import { acceptDeletions, findDeletions, restoreAccounts, verifyDeletions } from "./orphans.ts";
import { reconcileCompanyAccounts, reconcileUsers } from "./reconcile-users.ts";

export type Clock = { readonly getRemainingTimeInMillis: () => number };

/** Another tick has continued from the same checkpoint, so this one stops. */
class Overtaken extends Error {}

/**
 * Compares the provider's list of users with the table. A run takes as many ticks as it needs: each tick
 * continues after the checkpoint, however the one before ended. Runs start on schedule, and after a time in
 * which webhooks may have been lost. Operators send `{"now": true}` to start a run that is not due,
 * `{"acceptDeletions": true}` or `{"restore": IDS}`. Receivers send `{"lost": KIND}` to request a run between
 * two schedules.
 */
export function reconciler(dependencies: ReconcilerDependencies) {
  return async (event: unknown, clock: Clock): Promise<ReconcileOutcome> => {
    const { checkpoint, settings, longestCallInMillis, now, log } = dependencies;
    const asked: Fields = isFields(event) ? event : {};
    if (asked.restore !== undefined) {
      const ids = asked.restore === "all" ? undefined : textsOf(asked, "restore").map(canonicalId);
      return { outcome: "restored", ...(await restoreAccounts(ids, dependencies)) };
    }
    const known = await checkpoint.load();
    if (asked.acceptDeletions === true)
      return { outcome: "accepted", accepted: await acceptDeletions(known, dependencies) };
    const isDueBySchedule = isDue(known, settings.everyHours, now());
    const request = await loadRequest(asked.lost, known, dependencies);
    const isWanted =
      asked.now === true || isDueBySchedule || isRequested(request, known, settings.graceMinutes, now());
    const warnIfOverdue = (latest: Run | undefined): void => {
      if (isOverdue(latest, settings.everyHours, now())) log("RECONCILIATION_OVERDUE");
    };
    if (isPostponed(known, now())) {
      warnIfOverdue(known);
      return { outcome: "paused", reason: "the provider asked to wait" };
    }
    const isTimeLeft = () => clock.getRemainingTimeInMillis() > longestCallInMillis;
    let run = known?.endedAt === undefined ? known : undefined;
    try {
      const isVerified = await verifyDeletions(dependencies, isTimeLeft);
      const isByItself = run === undefined && asked.now !== true;
      const missed = isByItself ? await findLost(known, isWanted, dependencies) : undefined;
      if (!isWanted && missed === undefined) return { outcome: "not due" };
      if (!isVerified) {
        warnIfOverdue(known);
        return { outcome: "goes on", listed: run?.counts.listed ?? 0 };
      }
      if (run === undefined) {
        const isScheduled = isDueBySchedule && asked.now !== true;
        const rereads = isOpen(request, known, settings.graceMinutes) && request.rereads;
        const cause = present<RunCause>({ rereads: rereads || undefined, missed });
        run = await save(startRun(known, now(), isScheduled, cause), dependencies);
        if (missed !== undefined)
          log("WEBHOOKS_MAY_BE_LOST", { ...missed, correlationId: correlationOfRun(run.startedAt) });
      }
      for await (const step of stepsOf(run, dependencies, isTimeLeft)) run = step;
    } catch (error) {
      if (error instanceof Overtaken) {
        log("RECONCILIATION_OVERTAKEN");
        return { outcome: "overtaken" };
      }
      if (!(error instanceof FailureError)) throw error;
      const { failure } = error;
      // The provider, its rate or a queue is unavailable; the next tick retries.
      if (failure.type === "retryable") {
        const latest = run ?? known;
        if (latest !== undefined && isNotReady(error) && failure.delayInSeconds > 0)
          await checkpoint.save(postpone(latest, failure.delayInSeconds, now()));
        log("RECONCILIATION_PAUSED", { reason: failure.reason });
        warnIfOverdue(latest);
        return { outcome: "paused", reason: failure.reason };
      }
      // Retrying doesn't help: end the run, or every tick would fail at the same place.
      if (run !== undefined) await checkpoint.save(endRun(run, now(), failure.reason));
      log("RECONCILIATION_FAILED", { reason: failure.reason });
      throw error;
    }
    if (run.endedAt === undefined) {
      warnIfOverdue(run);
      return { outcome: "goes on", listed: run.counts.listed };
    }
    const drift = driftOfRun(run);
    log("RECONCILED", { correlationId: correlationOfRun(run.startedAt), ...run.counts, drift });
    return { outcome: "done", listed: run.counts.listed, drift };
  };
}

/** Loads the request for a run, and adds a webhook that was just lost. */
async function loadRequest(
  lost: unknown,
  run: Run | undefined,
  { requests, settings, now }: ReconcilerDependencies,
): Promise<RunRequest | undefined> {
  const before = await requests.load();
  if (!isWebhookKind(lost)) return before;
  const open = isOpen(before, run, settings.graceMinutes) ? before : undefined;
  const request = requestRun(before, open, lost, now());
  // If another receiver was faster, its request serves as well.
  return (await requests.save(request)) ?? request;
}

/**
 * Finds the time range in which webhooks may have been lost, unless a run made up for it or began recently.
 * @param isWanted whether a run begins in any case; then a failure of CloudWatch doesn't stop it
 */
async function findLost(
  known: Run | undefined,
  isWanted: boolean,
  { receivingCounts, settings: { missed }, now }: ReconcilerDependencies,
): Promise<Missed | undefined> {
  if (known === undefined || !mayMakeUp(known, missed.atMostEveryMinutes, now())) return undefined;
  const since = Date.parse(known.lastMissed?.until ?? "") || 0;
  try {
    return findMissed(await receivingCounts(now()), since, now().getTime(), missed);
  } catch (error) {
    if (isWanted && error instanceof FailureError) return undefined;
    throw error;
  }
}

/** Number of users or company accounts that are compared between two writes of the checkpoint. */
const itemsPerStep = 25;

/** Compares users, then company accounts, step by step, until all are done or the time is nearly over. */
async function* stepsOf(
  begun: Run,
  dependencies: ReconcilerDependencies,
  isTimeLeft: () => boolean,
): AsyncGenerator<Run> {
  const { now } = dependencies;
  for (let run = begun; run.endedAt === undefined && (run === begun || isTimeLeft()); ) {
    const { items, next, skipped } = await pageOf(run, dependencies);
    const reconcile = run.companies ? reconcileCompanyAccounts : reconcileUsers;
    for (let left = itemsLeft(items, run); ; ) {
      const step = left.slice(0, itemsPerStep);
      const { done, found, failure } = await reconcile(step, run, dependencies, isTimeLeft);
      left = left.slice(done.length);
      run = advance(run, done.at(-1)?.id, found);
      const isPageDone = left.length === 0 && failure === undefined;
      if (done.length === 0 && failure !== undefined && isAttempt(failure)) run = stall(run);
      if (isPageDone) run = turnPage(run, next, skipped, now());
      if (run.endedAt !== undefined) await findDeletions(run, dependencies);
      run = await save(run, dependencies);
      yield run;
      if (failure !== undefined) throw failure;
      if (isPageDone) break;
      if (!isTimeLeft()) return;
    }
  }
}

/** One page of the provider's users, or all company accounts in the table. */
async function pageOf(run: Run, dependencies: ReconcilerDependencies) {
  const { lists, partitions, settings } = dependencies;
  if (run.companies) {
    const ids = await partitions.companyAccounts();
    return { items: ids.map((id) => ({ id })), next: undefined, skipped: 0 };
  }
  const { items, next } = await lists.users(run.page);
  const { read, skipped } = readItems(settings.readers.users, items, dependencies);
  return { items: read, next, skipped };
}

async function save(run: Run, { checkpoint }: ReconcilerDependencies): Promise<Run> {
  const saved = await checkpoint.save(run);
  if (saved === undefined) throw new Overtaken();
  return saved;
}
