import { createHash } from "node:crypto";

/**
 * Times are milliseconds since 1970 from AWS services' clocks, never from a Lambda's clock: a clock that is
 * an hour off must not make a document look newer than it is.
 */

/** Maximum difference between the clocks of two services. */
const clockToleranceInMillis = 2_000;

export type DeliveredTask = {
  readonly messageId: string;
  readonly since: number;
  /** SQS's `ApproximateFirstReceiveTimestamp`. */
  readonly firstReceivedAt: number;
};

/** What a stored document records about the call that read it. */
export type Coverage = {
  /** The call was made at this time or later. */
  readonly asOf: number;
  /** Digests of the messages whose tasks the call completed; see `messageDigest`. */
  readonly by: readonly string[];
};

/**
 * A read of a list that continues in another run. It covers only what it covered at the request of its first
 * page.
 */
export type ReadInPages = Coverage & {
  /** The stored document's `asOf` at that time; undefined if there was no document. */
  readonly known: number | undefined;
};

/** A message id in `by`. The digest is long enough that two messages of a document never collide. */
export function messageDigest(messageId: string): string {
  return createHash("sha256").update(messageId).digest("base64url").slice(0, 12);
}

/**
 * The latest time known to precede a call. @param serviceDate `Date` of DynamoDB's last answer before the
 * call
 */
export function timeBefore(
  serviceDate: number,
  tasks: readonly Pick<DeliveredTask, "firstReceivedAt">[],
): number {
  return Math.max(serviceDate, ...tasks.map(({ firstReceivedAt }) => firstReceivedAt));
}

/** Whether a document was read for a task or after it. @param now as `timeBefore` returns it */
export function isCovered(
  { messageId, since }: Pick<DeliveredTask, "messageId" | "since">,
  document: Coverage | undefined,
  now: number,
): boolean {
  if (document === undefined) return false;
  if (document.by.includes(messageDigest(messageId))) return true;
  return !isInFuture(document.asOf, now) && since + clockToleranceInMillis <= document.asOf;
}

/**
 * Whether a task was received so soon that no document can cover it, whichever is stored. Half of the tolerance is left
 * for the time from its receipt to the call.
 */
export function isTooNewToBeCovered({ since, firstReceivedAt }: Omit<DeliveredTask, "messageId">): boolean {
  return firstReceivedAt < since + clockToleranceInMillis / 2;
}

/**
 * Whether a document was read after a webhook was sent to its queue: it covers a task with that `since`, or
 * was read for a task with the same or a later `since`.
 * @param now as `timeBefore` returns it
 */
export function isReadSince(
  { asOf, readFor }: Pick<Coverage, "asOf"> & { readonly readFor?: number | undefined },
  since: number,
  now: number,
): boolean {
  if (readFor !== undefined && since <= readFor) return true;
  return !isInFuture(asOf, now) && since + clockToleranceInMillis <= asOf;
}

/**
 * The `asOf` of a call. It increases with each write, so that a write can use the previous one as its
 * condition.
 */
export function asOfOf(known: number | undefined, now: number): number {
  return known === undefined || isInFuture(known, now) ? now : Math.max(now, known + 1);
}

/** Whether a service's clock was wrong when this was written. */
function isInFuture(asOf: number, now: number): boolean {
  return asOf > now + clockToleranceInMillis;
}

/**
 * Plans the call for the tasks of one document.
 * @param pages what an earlier run read for the first of these tasks
 * @param now as `timeBefore` returns it
 * @returns the call, with the tasks that are complete without it (`skipped`) and after its write (`covered`; if empty,
 * no call is made), and those that are planned again after it, because they arrived after the request of the first
 * page (`waiting`). `isResumed`: it continues after pages that an earlier run read.
 */
export function planRead<T extends DeliveredTask>(
  tasks: readonly T[],
  document: Coverage | undefined,
  { pages, now }: { readonly pages?: ReadInPages | undefined; readonly now: number },
) {
  const isDone = (task: T) => isCovered(task, document, now);
  const open = tasks.filter((task) => !isDone(task));
  const common = { skipped: tasks.filter(isDone), known: document?.asOf };
  const covered = open.filter(({ messageId }) => pages?.by.includes(messageDigest(messageId)));
  // If another write came first, these pages could no longer be written.
  if (pages !== undefined && pages.known === common.known && covered.length > 0) {
    const waiting = open.filter((task) => !covered.includes(task));
    return { ...common, asOf: pages.asOf, by: pages.by, covered, waiting, isResumed: true };
  }
  const by = open.map(({ messageId }) => messageDigest(messageId));
  return { ...common, asOf: asOfOf(common.known, now), by, covered: open, waiting: [], isResumed: false };
}
