import { FailureError, isAttempt } from "../../domain/core/failures.ts";
import type { Subject } from "../../domain/event/subjects.ts";
import type { DataName, Document } from "../../domain/fetch/document.ts";
import { isReadAs } from "../../domain/fetch/provider-settings.ts";
import { documentTask, fetchTaskMessage } from "../../domain/fetch/task.ts";
import { afterSilence } from "../../domain/readiness/readiness.ts";
import {
  type ComparisonResult,
  compareAccount,
  compareCompanyAccount,
  compareUser,
  countComparisons,
  type Drift,
  type Orphaned,
} from "../../domain/reconcile/drift.ts";
import {
  addCounts,
  type Counts,
  correlationOfRun,
  isStuck,
  type Run,
} from "../../domain/reconcile/reconciliation.ts";
import type { Listed } from "../../domain/state/listing.ts";
import type { State } from "../../domain/state/state.ts";
import type { ReconcilerDependencies } from "./dependencies.ts";
import { feed } from "./feed.ts";
import { readItems } from "./listed-items.ts";
import { markOrphans } from "./orphans.ts";

/** The result of a step. `done` are the users or company accounts, from the first one on, that are compared. */
export type StepResult = {
  readonly done: readonly Listed[];
  readonly found: Partial<Counts>;
  /** Why the others are not compared; absent if the time is nearly over. */
  readonly failure?: FailureError;
};

/** A user, with the table's data from before the provider's accounts were read. */
type KnownUser = {
  readonly user: Listed;
  readonly state: State | undefined;
  readonly accountIds: readonly string[];
};

type ComparedUser = KnownUser & { readonly accounts?: readonly Listed[]; readonly skipped: number };

/**
 * Compares users and their accounts with the table, sends missed events to the queues, marks accounts that
 * the lists omit, and requests old documents again. Idempotent: events have the same ids, and a run requests
 * a document once.
 */
export async function reconcileUsers(
  users: readonly Listed[],
  run: Run,
  dependencies: ReconcilerDependencies,
  isTimeLeft: () => boolean,
): Promise<StepResult> {
  const known = await Promise.all(users.map((user) => loadKnown(user, dependencies)));
  const { listed, failure } = await listAccounts(known, isStuck(run), dependencies, isTimeLeft);
  const results = await Promise.all(listed.map((user) => compare(user, run, dependencies)));
  const drifts = results.flatMap((result) => result.drifts);
  const counts = results.map(({ found }) => found);
  await feed(
    drifts.filter((drift) => !isOrphaned(drift)),
    dependencies,
  );
  await markOrphans(drifts.filter(isOrphaned), run, dependencies);
  return {
    done: listed.map(({ user }) => user),
    found: counts.reduce<Partial<Counts>>(addCounts, { listed: listed.length }),
    ...(failure === undefined ? {} : { failure }),
  };
}

/**
 * Asks the provider about company accounts, one after the other, because it does not list them. Sends events about
 * changed states, and requests documents whose webhooks may be lost. A company account that the provider does not know
 * stays as it is.
 */
export async function reconcileCompanyAccounts(
  accounts: readonly Listed[],
  run: Run,
  dependencies: ReconcilerDependencies,
  isTimeLeft: () => boolean,
): Promise<StepResult> {
  const done: Listed[] = [];
  let found: Partial<Counts> = {};
  for (const account of accounts) {
    if (done.length > 0 && !isTimeLeft()) break;
    const subject = { kind: "company-account", id: account.id } as const;
    try {
      found = addCounts(found, await reconcileCompanyAccount(subject, run, dependencies));
    } catch (error) {
      if (!(error instanceof FailureError)) throw error;
      if (!isSkipped(error, isStuck(run) && done.length === 0)) return { done, found, failure: error };
      dependencies.log("RECONCILIATION_SKIPPED", { subject, reason: error.failure.reason });
      found = addCounts(found, { skipped: 1 });
    }
    done.push(account);
  }
  return { done, found };
}

async function reconcileCompanyAccount(
  subject: Subject,
  run: Run,
  dependencies: ReconcilerDependencies,
): Promise<Partial<Counts>> {
  const { versionedRecords, lists, readDocuments } = dependencies;
  const known = await versionedRecords.loadState(subject);
  if (known === undefined || known.deleted) return {};
  const given = await lists.companyAccount(subject.id);
  if (given === undefined) return {};
  const { connected = known.connected ?? false } = given;
  const comparison = compareCompanyAccount(known, connected);
  if (typeof comparison === "object") await feed([comparison], dependencies);
  const account = { subject, isConnected: connected, updatedAt: undefined };
  const documents = (await readDocuments(subject)).map(({ document }) => document);
  const reread = await rereadDocuments(account, documents, run, dependencies);
  return { ...countComparisons([comparison]), reread };
}

/**
 * Whether to go on without a subject, so that its own answer does not block the others.
 * @param isStuckHere whether it has failed too often to wait for it
 */
function isSkipped(error: FailureError, isStuckHere: boolean): boolean {
  const { failure } = error;
  const isItsOwn = failure.type === "permanent" || failure.refused === "alone";
  return isItsOwn || (isStuckHere && isAttempt(error));
}

async function loadKnown(
  user: Listed,
  { versionedRecords, partitions }: ReconcilerDependencies,
): Promise<KnownUser> {
  const [state, accountIds] = await Promise.all([
    versionedRecords.loadState({ kind: "user", id: user.id }),
    partitions.accountsOf(user.id),
  ]);
  return { user, state, accountIds };
}

/**
 * Lists the accounts of one user after the other, so that even a low rate completes whole users.
 * @param isFirstStuck whether the first user has failed too often to wait for it
 */
async function listAccounts(
  known: readonly KnownUser[],
  isFirstStuck: boolean,
  dependencies: ReconcilerDependencies,
  isTimeLeft: () => boolean,
): Promise<{ readonly listed: readonly ComparedUser[]; readonly failure?: FailureError }> {
  const listed: ComparedUser[] = [];
  for (const user of known) {
    // Each tick completes at least one user.
    if (listed.length > 0 && !isTimeLeft()) break;
    try {
      listed.push(await withAccounts(user, isFirstStuck && listed.length === 0, dependencies));
    } catch (error) {
      if (!(error instanceof FailureError)) throw error;
      return { listed, failure: error };
    }
  }
  return { listed };
}

async function withAccounts(
  known: KnownUser,
  isStuckHere: boolean,
  dependencies: ReconcilerDependencies,
): Promise<ComparedUser> {
  const { lists, settings, log } = dependencies;
  if (lists.accountsOf === undefined || known.state?.deleted === true) return { ...known, skipped: 0 };
  try {
    const items = await lists.accountsOf(known.user.id);
    const { read, skipped } = readItems(settings.readers.accounts, items, dependencies);
    return { ...known, accounts: read, skipped };
  } catch (error) {
    if (!(error instanceof FailureError)) throw error;
    if (!isSkipped(error, isStuckHere)) throw error;
    const { reason } = error.failure;
    log("RECONCILIATION_SKIPPED", { subject: { kind: "user", id: known.user.id }, reason });
    return { ...known, skipped: 1 };
  }
}

function isOrphaned(found: Drift | Orphaned): found is Orphaned {
  return found.drift === "orphaned";
}

type Comparison = { readonly drifts: readonly (Drift | Orphaned)[]; readonly found: Partial<Counts> };

async function compare(
  { user, state, accountIds, accounts, skipped }: ComparedUser,
  run: Run,
  dependencies: ReconcilerDependencies,
): Promise<Comparison> {
  const { versionedRecords, settings, now } = dependencies;
  const beforeGrace = now().getTime() - settings.graceMinutes * 60_000;
  // Items created while webhooks were lost get no grace period: their webhook may be lost, too.
  const createdBefore = new Date(Math.max(beforeGrace, missedUntil(run))).toISOString();
  const comparisons: ComparisonResult[] = [compareUser(state, user, createdBefore)];
  const listed = new Map(accounts?.map((account) => [account.id, account]));
  let reread = 0;
  for (const id of new Set([...accountIds, ...listed.keys()])) {
    const subject: Subject = { kind: "account", id };
    const known = await versionedRecords.loadState(subject);
    if (accounts !== undefined) {
      comparisons.push(compareAccount(user.id, known, listed.get(id), createdBefore));
    }
    if (known?.deleted === false) {
      // An account that the list omits may be gone, so it counts as not connected.
      const inList = accounts === undefined ? { connected: known.connected } : listed.get(id);
      const account = {
        subject,
        isConnected: inList?.connected ?? false,
        updatedAt: listed.get(id)?.updatedAt,
      };
      const documents = (await dependencies.readDocuments(subject)).map(({ document }) => document);
      reread += await rereadDocuments(account, documents, run, dependencies);
      if (account.isConnected) await announceStale(subject, documents, dependencies);
    }
  }
  const drifts = comparisons.filter((comparison) => typeof comparison === "object");
  return { drifts, found: { ...countComparisons(comparisons), accounts: listed.size, reread, skipped } };
}

/** If webhooks about documents were lost, a run rereads documents older than this. */
const daysAfterLoss = 1;

/** Milliseconds since 1970; -Infinity if the run knows of no lost webhooks. */
function missedUntil({ missed }: Pick<Run, "missed">): number {
  return missed === undefined ? Number.NEGATIVE_INFINITY : Date.parse(missed.until);
}

/** An account that is not deleted, as the provider lists it; if accounts are not listed, as in the table. */
type KnownAccount = {
  readonly subject: Subject;
  readonly isConnected: boolean;
  readonly updatedAt: string | undefined;
};

/** Whether the lost webhooks may include news of an account's data. */
function mayHaveNews({ isConnected, updatedAt }: KnownAccount, { missed }: Run): boolean {
  return missed !== undefined && isConnected && (updatedAt === undefined || updatedAt >= missed.from);
}

/**
 * Announces an account that has had no new data for a long time.
 * @param documents read eventually; those of the awaited endpoints are read again, consistently
 */
export async function announceStale(
  account: Subject,
  documents: readonly Document[],
  { readiness, now }: Pick<ReconcilerDependencies, "readiness" | "now">,
): Promise<void> {
  if (readiness === undefined) return;
  const { records, staleMillis } = readiness;
  const isNew = ({ announced = 0 }: Document) => now().getTime() - announced < staleMillis;
  if (documents.some(isNew)) return;
  await records.update(account, async (known) => {
    if (known === undefined) return undefined;
    const latest = await records.documents(account, known.endpoints);
    return afterSilence(known, [...documents, ...latest], { staleMillis, now: now().getTime() });
  });
}

/**
 * Requests documents of an account that were last read before the configured age or, if news of them may be
 * lost, before the end of that loss. In the second case it also requests start endpoints that were never
 * read.
 * @param run requests a document once
 * @returns the number of requested documents
 * @throws a failure if a task can't be sent
 */
async function rereadDocuments(
  account: KnownAccount,
  stored: readonly Document[],
  run: Run,
  { send, queueUrls, provider, startEndpoints, settings, now }: ReconcilerDependencies,
): Promise<number> {
  const { subject } = account;
  const isNews = mayHaveNews(account, run);
  const { rereadAfterDays } = settings;
  const days = run.rereads ? Math.min(daysAfterLoss, rereadAfterDays) : rereadAfterDays;
  const tooOld = now().getTime() - days * 86_400_000;
  const oldest = isNews ? Math.max(tooOld, missedUntil(run)) : tooOld;
  const unread = isNews
    ? startEndpoints.filter((name) => !stored.some(({ endpoint }) => endpoint === name))
    : [];
  const names: readonly DataName[] = [
    ...stored.filter(({ asOf }) => asOf < oldest),
    ...unread.map((endpoint) => ({ endpoint })),
  ];
  const cause = {
    cause: `reread.${run.startedAt}`,
    correlationId: correlationOfRun(run.startedAt),
  };
  const tasks = names
    .filter((name) => isReadAs(provider, subject, name))
    .map((name) => documentTask(subject, name, oldest, cause));
  if (tasks.length === 0) return 0;
  const failures = await send(queueUrls.fetch, tasks.map(fetchTaskMessage));
  const failed = failures.find((failure) => failure !== undefined);
  if (failed !== undefined) throw new FailureError(failed);
  return tasks.length;
}
