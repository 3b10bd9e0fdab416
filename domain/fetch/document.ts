import { createHash } from "node:crypto";
import { permanent } from "../core/failures.ts";
import {
  type Fields,
  fieldsOf,
  isFields,
  numberOf,
  optionalNumber,
  optionalText,
  present,
  textOf,
  textsOf,
} from "../core/parse.ts";
import type { EventAttributes } from "../event/events.ts";
import { plainJson, sourceAt } from "../event/json.ts";
import { keyPart, parseSubject } from "../event/subjects.ts";

/** First and last day, as the provider writes them. */
export type DateRange = ReturnType<typeof parseRange>;

/** Names a subject's data: everything at an endpoint, or one range of dates. */
export type DataName = ReturnType<typeof parseDataName>;

// Becomes part of keys and paths. Other date formats cause the whole document to be read.
const date = /^\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}:\d{2}(\.\d{1,9})? ?(UTC|Z|[+-]\d{2}:\d{2})?)?$/;

/** The date range that an event announces; undefined if it has none or in an unknown format. */
export function rangeOf({
  dateStart,
  dateEnd,
}: Pick<EventAttributes, "dateStart" | "dateEnd">): DateRange | undefined {
  if (dateStart === undefined || dateEnd === undefined) return undefined;
  return date.test(dateStart) && date.test(dateEnd) ? { start: dateStart, end: dateEnd } : undefined;
}

/** The name of data in keys and messages: `income`, or `income/2026-01-01..2026-01-31`. */
export function nameOfData({ endpoint, range }: DataName, separator: "#" | "/"): string {
  const part = keyPart(endpoint);
  return range === undefined ? part : `${part}${separator}${range.start}..${range.end}`;
}

/** @throws permanent failure naming the field */
export function parseDataName(fields: Fields) {
  return present({
    endpoint: textOf(fields, "endpoint"),
    range: isFields(fields.range) ? parseRange(fields.range) : undefined,
  });
}

function parseRange(fields: Fields) {
  return { start: textOf(fields, "start"), end: textOf(fields, "end") } as const;
}

const secondsPerDay = 86_400;

/** When data of a superseded version expires, in epoch seconds. @param days days to keep it */
export function expiryOf(supersededAt: number, days: number): number {
  return Math.ceil(supersededAt / 1000 + days * secondsPerDay);
}

/**
 * Metadata of one document: a subject's data from an endpoint, whole or for one range of dates. Every call
 * writes it, even if nothing changed or the provider has no data. The data is stored separately.
 */
export type Document = ReturnType<typeof parseDocument>;

/**
 * Where a document's data is stored, and its encoding. Neither `content` nor `object` if the provider has
 * none.
 */
export type DocumentStorage = ReturnType<typeof parseStorage>;

/** @param fields of a document. @throws permanent failure naming the field */
export function parseStorage(fields: Fields) {
  const { codec, content } = fields;
  if (codec !== undefined && codec !== "gzip" && codec !== "identity")
    throw permanent("document.codec: expected gzip or identity");
  return present({
    codec,
    content: content instanceof Uint8Array ? content : undefined,
    /** The key of the S3 object. */
    object: optionalText(fields, "object"),
    /** SHA-256 of the object's bytes in lower-case hex. */
    objectDigest: optionalText(fields, "objectDigest"),
  });
}

/** An S3 object with the data of a superseded version. */
export type SupersededObject = ReturnType<typeof parseSuperseded>;

/** @throws permanent failure naming the field */
export function parseSuperseded(value: unknown) {
  const fields = fieldsOf(value, "document");
  return {
    subject: parseSubject(fields.subject),
    name: parseDataName(fields),
    announced: numberOf(fields, "announced"),
    object: textOf(fields, "object"),
  } as const;
}

/**
 * What a call found: SHA-256 of the provider's bytes in lower-case hex, and their size; undefined if it has
 * none.
 */
export type Found =
  | { readonly digest: string; readonly size: number; readonly contentType?: string }
  | undefined;

/**
 * The document after a call. It is written even if nothing changed, because the write completes the call's
 * tasks.
 * @param call when the provider was queried, for which messages, and for which task first
 * @param days number of days that the data covers
 */
export function documentAfter(
  stored: Document | undefined,
  call: Coverage & {
    readonly task: DataName & Pick<Document, "subject" | "userId" | "correlationId">;
    readonly readFor?: number | undefined;
  },
  found: Found,
  days?: number,
): Document {
  const { subject, endpoint, range, correlationId, userId } = call.task;
  const { digest } = found ?? {};
  const news = digest !== stored?.digest;
  return present<Document>({
    subject,
    userId: userId ?? stored?.userId,
    endpoint,
    range,
    asOf: call.asOf,
    by: call.by,
    digest,
    // Must increase even if `asOf` decreases because a service's clock was wrong.
    announced: news ? Math.max(call.asOf, (stored?.announced ?? 0) + 1) : stored?.announced,
    news,
    size: found?.size,
    contentType: found?.contentType === plainJson ? undefined : found?.contentType,
    correlationId: news ? correlationId : stored?.correlationId,
    readFor: latestOf(call.readFor, stored?.readFor),
    days,
  });
}

function latestOf(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);
}

/** @throws permanent failure naming the field */
export function parseDocument(value: unknown) {
  const fields = fieldsOf(value, "document");
  return present({
    subject: parseSubject(fields.subject),
    /** The subject's user, from the last task that named one. An erasure finds the subject's events there. */
    userId: optionalText(fields, "userId"),
    ...parseDataName(fields),
    /** The call was made at this time or later. */
    asOf: numberOf(fields, "asOf"),
    /** Digests of the messages whose tasks the call completed; see `messageDigest`. */
    by: textsOf(fields, "by"),
    /** Digest of the uncompressed bytes; absent if the provider has no data. */
    digest: optionalText(fields, "digest"),
    /**
     * Id and sequence of the message that announced the current content or its removal; absent before the
     * first.
     */
    announced: optionalNumber(fields, "announced"),
    /** Whether the last write changed the data, so that subscribers are notified. */
    news: fields.news === true,
    /** Size of the provider's data in bytes; absent if it has none. */
    size: optionalNumber(fields, "size"),
    /** As in messages; absent for `application/json`. */
    contentType: optionalText(fields, "contentType"),
    /** Correlation id of what caused the call that changed the data. */
    correlationId: optionalText(fields, "correlationId"),
    /** The latest `since` of the tasks that it was read for; stored if the stage has `readiness`. */
    readFor: optionalNumber(fields, "readFor"),
    /** Number of days that the data covers; stored if `readiness.minDays` is set. */
    days: optionalNumber(fields, "days"),
  });
}

const millisPerDay = 86_400_000;

/**
 * Number of days that a document's records cover, from the first `date_start` to the last `date_end`,
 * inclusive.
 * @param text valid JSON
 * @param items path of the list in an object, as `provider.paging.items`
 * @returns 0 if no record has both dates
 */
export function daysIn(text: string, items: string): number {
  const source = text.trimStart().startsWith("[") ? sourceAt(text, "") : sourceAt(text, items);
  const records: unknown = source && JSON.parse(text.slice(source.start, source.end));
  if (!Array.isArray(records)) return 0;
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const record of records) {
    if (!isFields(record)) continue;
    const [start, end] = [dayOf(record.date_start), dayOf(record.date_end)];
    if (start === undefined || end === undefined) continue;
    first = Math.min(first, start);
    last = Math.max(last, end);
  }
  return last < first ? 0 : last - first + 1;
}

function dayOf(value: unknown): number | undefined {
  const time = typeof value === "string" ? Date.parse(value.slice(0, 10)) : Number.NaN;
  return Number.isNaN(time) ? undefined : Math.floor(time / millisPerDay);
}

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

/** The part of a stored document that describes the call that read it. */
export type Coverage = Pick<Document, "asOf" | "by">;

/**
 * A read of a list that continues in another run. It covers only what it covered at the request of its first
 * page.
 */
export type ReadInPages = ReturnType<typeof parseReadInPages>;

/** @throws permanent failure naming the field */
export function parseReadInPages(value: unknown) {
  const fields = fieldsOf(value, "read");
  return {
    asOf: numberOf(fields, "asOf"),
    by: textsOf(fields, "by"),
    /** The stored document's `asOf` at that time; undefined if there was no document. */
    known: optionalNumber(fields, "known"),
  } as const;
}

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
