import { createHash } from "node:crypto";

/**
 * Times are milliseconds since 1970 by the clocks of AWS's services, never by a Lambda's: one that is wrong by an hour
 * must not make a document look newer than it is.
 */

/** How far the clocks of two services may be apart. */
const clockToleranceInMillis = 2_000;

/** A task as SQS delivered it. */
export type DeliveredTask = {
  readonly messageId: string;
  readonly since: number;
  /** SQS's `ApproximateFirstReceiveTimestamp`. */
  readonly firstReceivedAt: number;
};

/** What a stored document says of the call that read it. */
export type Coverage = {
  /** The call was made at or after this. */
  readonly asOf: number;
  /** Digests of the messages whose tasks the call did, see `messageDigest`. */
  readonly by: readonly string[];
};

/** A read of a list that goes on in another run. It covers what it covered when its first page was called for. */
export type ReadInPages = Coverage & {
  /** The stored document's `asOf` at that time; undefined where there was none. */
  readonly known: number | undefined;
};

/** One call for a document, and what becomes of each task of its batch. */
export type PlannedRead<T> = ReadInPages & {
  /** Done without a call. */
  readonly skipped: readonly T[];
  /** Done with the write that follows the call. No call is made where there is none. */
  readonly covered: readonly T[];
  /** To be decided about again after it: they came after the first page was called for. */
  readonly waiting: readonly T[];
  /** Whether the call goes on where the pages that were read before end. */
  readonly isResumed: boolean;
};

/** How a message stands in `by`: enough of its digest that two messages of a document are never taken for one. */
export function messageDigest(messageId: string): string {
  return createHash("sha256").update(messageId).digest("base64url").slice(0, 12);
}

/** The latest time that is known to precede a call. @param serviceDate the `Date` of DynamoDB's last answer before it */
export function timeBefore(
  serviceDate: number,
  tasks: readonly Pick<DeliveredTask, "firstReceivedAt">[],
): number {
  return Math.max(serviceDate, ...tasks.map(({ firstReceivedAt }) => firstReceivedAt));
}

/** Whether a document was read for a task, or after it. @param now as `timeBefore` */
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
 * Whether a document was read after a webhook was sent to its queue: it would cover a task of that `since`, or was read for
 * one that is no older.
 * @param now as `timeBefore`
 */
export function isReadSince(
  { asOf, readFor }: Pick<Coverage, "asOf"> & { readonly readFor?: number | undefined },
  since: number,
  now: number,
): boolean {
  if (readFor !== undefined && since <= readFor) return true;
  return !isInFuture(asOf, now) && since + clockToleranceInMillis <= asOf;
}

/** The `asOf` of a call. It rises with each write, so that a write can have the one it read as its condition. */
export function asOfOf(known: number | undefined, now: number): number {
  return known === undefined || isInFuture(known, now) ? now : Math.max(now, known + 1);
}

/** A service's clock was wrong when this was written. */
function isInFuture(asOf: number, now: number): boolean {
  return asOf > now + clockToleranceInMillis;
}

/**
 * Plans the call for the tasks of one document.
 * @param pages what the first of the tasks that were received before had read so far
 * @param now as `timeBefore`
 */
export function planRead<T extends DeliveredTask>(
  tasks: readonly T[],
  document: Coverage | undefined,
  { pages, now }: { readonly pages?: ReadInPages | undefined; readonly now: number },
): PlannedRead<T> {
  const isDone = (task: T) => isCovered(task, document, now);
  const open = tasks.filter((task) => !isDone(task));
  const common = { skipped: tasks.filter(isDone), known: document?.asOf };
  const covered = open.filter(({ messageId }) => pages?.by.includes(messageDigest(messageId)));
  // Where another write was faster, these pages could not be written any more.
  if (pages !== undefined && pages.known === common.known && covered.length > 0) {
    const waiting = open.filter((task) => !covered.includes(task));
    return { ...common, asOf: pages.asOf, by: pages.by, covered, waiting, isResumed: true };
  }
  const by = open.map(({ messageId }) => messageDigest(messageId));
  return { ...common, asOf: asOfOf(common.known, now), by, covered: open, waiting: [], isResumed: false };
}

/** What DynamoDB said of a document's write: `unknown` where its answer was lost. */
export type WriteAnswer = "accepted" | "refused" | "unknown";

const hiddenAfterRefusalInSeconds = 2;

/**
 * What becomes of a task after the write of the call that covered it. A task ends only by an accepted write, or by being
 * void.
 * @param document as it was read again, consistently, after a write that was not accepted
 */
export function outcomeOfWrite(
  answer: WriteAnswer,
  task: DeliveredTask,
  document: Coverage | undefined,
  now: number,
): "done" | { readonly hideInSeconds: number } {
  if (answer === "accepted" || isCovered(task, document, now)) return "done";
  return { hideInSeconds: hiddenAfterRefusalInSeconds };
}
