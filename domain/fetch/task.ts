import { createHash } from "node:crypto";
import { permanent } from "../core/failures.ts";
import {
  checkSchemaVersion,
  fieldsOf,
  numberOf,
  optionalText,
  parseJson,
  present,
  textOf,
} from "../core/parse.ts";
import { jsonText } from "../event/json.ts";
import { parseSubject, type Subject } from "../event/subjects.ts";
import { type DataName, parseDataName } from "./document.ts";

/** The task version that this release writes. */
export const fetchTaskVersion = 2;

/** Reads a document. Skipped if the document was read after `since` (milliseconds since 1970). */
export type DocumentTask = ReturnType<typeof common> &
  DataName & { readonly type: "fetchDocument"; readonly since: number };

/**
 * Starts a data fetch, fetches a state, or verifies that the provider answered a start. `version` is that of the
 * state that caused it. `verifyStart` counts from when SQS received it, after the provider accepted the start.
 */
export type StateTask = ReturnType<typeof common> & {
  readonly type: "startFetch" | "fetchState" | "verifyStart";
  readonly version: number;
};

/** A call to make to the provider. */
export type FetchTask = DocumentTask | StateTask;

const taskNames: Readonly<Record<FetchTask["type"], string>> = {
  startFetch: "fetch start",
  fetchDocument: "document fetch",
  fetchState: "state fetch",
  verifyStart: "start check",
};

/** The name of a task's type for operators. A type that only a later release knows keeps its own. */
export function taskName(type: string): string {
  return isTaskType(type) ? taskNames[type] : type;
}

function isTaskType(type: string): type is FetchTask["type"] {
  return Object.hasOwn(taskNames, type);
}

export type TaskCause = {
  readonly cause: string;
  readonly correlationId?: string | undefined;
  readonly userId?: string | undefined;
};

/** The cause of tasks that follow from one receipt of an event. */
export function receiptCause(eventId: string, receipt: number): string {
  return `${eventId}.${receipt}`;
}

/** Whether a webhook caused the task, not a check of a start, reconciliation or an operator. */
export function isOfReceipt({ cause, correlationId }: FetchTask): boolean {
  return correlationId !== undefined && cause.startsWith(`${correlationId}.`);
}

export function documentTask(
  subject: Subject,
  { endpoint, range }: DataName,
  since: number,
  cause: TaskCause,
): DocumentTask {
  return { ...common(subject, cause), type: "fetchDocument", endpoint, ...present({ range }), since };
}

/** @param version version of the state that caused it */
export function stateTask(
  task: StateTask["type"],
  subject: Subject,
  version: number,
  ids: Omit<TaskCause, "cause">,
): StateTask {
  return { ...common(subject, { ...ids, cause: String(version) }), type: task, version };
}

/** Fields of every task in the fetch queue. */
function common(subject: Subject, { cause, correlationId, userId }: TaskCause) {
  return present({
    schemaVersion: fetchTaskVersion,
    subject,
    /** The cause of the task, such as one receipt of an event. The same cause sends the same task. */
    cause,
    /** Correlation id of the cause; see `correlationOf`. */
    correlationId,
    /** The subject's user, if known. No call is made for an erased user. */
    userId,
  });
}

export function writeTask(task: FetchTask): string {
  return jsonText(task);
}

/** A task as a message of the fetch queue, grouped by document and deduplicated by cause. */
export function fetchTaskMessage(task: FetchTask) {
  return { body: writeTask(task), group: groupOf(task), deduplication: deduplicationOf(task) };
}

/** @throws permanent failure naming the field; retryable failure if a later release wrote it */
export function readTask(text: string): FetchTask {
  const fields = fieldsOf(parseJson(text, "the task"), "the task");
  checkSchemaVersion(fields.schemaVersion, fetchTaskVersion);
  const given = common(parseSubject(fields.subject), {
    cause: textOf(fields, "cause"),
    correlationId: optionalText(fields, "correlationId"),
    userId: optionalText(fields, "userId"),
  });
  switch (fields.type) {
    case "startFetch":
    case "fetchState":
    case "verifyStart":
      return { ...given, type: fields.type, version: numberOf(fields, "version") };
    case "fetchDocument":
      return { ...given, ...parseDataName(fields), type: "fetchDocument", since: numberOf(fields, "since") };
    default:
      throw permanent("type: expected fetchDocument, startFetch, fetchState or verifyStart");
  }
}

/**
 * Merges tasks for the same document into the one with the latest `since`, which covers the others. Ties are
 * broken by cause, so that one deduplication id never stands for tasks with different `since`.
 */
export function mergeTasks(tasks: readonly FetchTask[]): readonly FetchTask[] {
  const merged = new Map<string, FetchTask>();
  for (const task of tasks) {
    const key = mergeKeyOf(task);
    const other = merged.get(key);
    if (other === undefined || isLater(task, other)) merged.set(key, task);
  }
  return [...merged.values()];
}

export function mergeKeyOf(task: FetchTask): string {
  return task.type === "fetchDocument" ? groupOf(task) : deduplicationOf(task);
}

function isLater(task: FetchTask, other: FetchTask): boolean {
  if (task.type !== "fetchDocument" || other.type !== "fetchDocument") return false;
  return task.since === other.since ? task.cause > other.cause : task.since > other.since;
}

/**
 * The message group of a task: SQS delivers one batch of a group at a time. A digest, because ids may exceed
 * the limit of group ids.
 */
export function groupOf(task: FetchTask): string {
  return digestOf(partsOf(task));
}

/**
 * The deduplication id of a task. It includes the cause, because SQS would otherwise drop the task of the
 * document's next event for five minutes.
 * @param deadLetter message id of a dead letter that is redriven, because SQS would drop a recent duplicate
 */
export function deduplicationOf(task: FetchTask, deadLetter?: string): string {
  return digestOf([...partsOf(task), task.cause, ...(deadLetter === undefined ? [] : [deadLetter])]);
}

function partsOf(task: FetchTask): readonly string[] {
  const { kind, id } = task.subject;
  if (task.type !== "fetchDocument") return [task.type, kind, id];
  const { endpoint, range } = task;
  return [task.type, kind, id, endpoint, ...(range === undefined ? ["", ""] : [range.start, range.end])];
}

/** JSON keeps the parts distinct, whatever they contain. */
function digestOf(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
}

export type RetrySettings = ReturnType<typeof parseRetrySettings>;

/** @throws permanent failure naming the setting */
export function parseRetrySettings(value: unknown) {
  const fields = fieldsOf(value, "retry");
  return {
    /** First maximum of the back-off, in seconds; it doubles with each attempt. */
    baseSeconds: numberOf(fields, "baseSeconds"),
    /** Maximum wait in seconds, whatever the failure asks for. SQS delays a message by at most 900 seconds. */
    maxSeconds: numberOf(fields, "maxSeconds"),
  } as const;
}

/**
 * Waits for a permit reach their maximum at this receive. 240 hours of such waits must not use up all
 * receives.
 */
const receivesToLongestWait = 22;

/** Maximum receives before SQS itself moves a task to the dead-letter queue, without a reason. */
export const maxReceiveCount = 1000;

/**
 * How long a task stays invisible, in whole seconds. Short waits have much jitter, so that tasks that failed together
 * do not return together; the longest have little, because receives are limited. Waits for a permit grow
 * linearly: exponential waits would keep most of a backlog waiting while the rate limiter is idle.
 * @param receives SQS's `ApproximateReceiveCount`, from 1
 * @param random a number from 0 to 1
 */
export function waitFor(
  receives: number,
  {
    baseSeconds,
    maxSeconds,
    atLeastSeconds = 0,
    isForPermit = false,
  }: RetrySettings & {
    /** Minimum wait that the provider, the rate limiter or the circuit breaker requires. */
    readonly atLeastSeconds?: number;
    /** Whether the task waits for a permit: for the rate limiter or a token. */
    readonly isForPermit?: boolean;
  },
  random: number,
): number {
  const evenly = isForPermit ? (maxSeconds / receivesToLongestWait) * receives : Number.POSITIVE_INFINITY;
  const backOff = Math.min(baseSeconds * 2 ** receives, evenly);
  const wait =
    Math.max(atLeastSeconds, backOff) < maxSeconds
      ? Math.max(atLeastSeconds, backOff / 2) + (backOff / 2) * random
      : maxSeconds * (1 - random / 64);
  return Math.max(1, Math.min(maxSeconds, Math.ceil(wait)));
}

/** Receives reserved for crashes while a task is being given up. */
const receivesForCrashes = 10;

/** Give up a task one day before a queue with a retention of two weeks would drop it. */
const partOfRetention = 13 / 14;

/**
 * When to give up a task, before SQS moves it (too many receives) or drops it (too old) without a reason.
 * @param retentionSeconds the queue's retention period
 */
export function giveUpLimits(retentionSeconds: number) {
  return {
    maxReceives: maxReceiveCount - receivesForCrashes,
    maxAgeSeconds: Math.floor(retentionSeconds * partOfRetention),
  };
}

/** @param ageInSeconds time since SQS accepted the task, by a service's clock */
export function isGivenUp(
  receives: number,
  ageInSeconds: number,
  limits: ReturnType<typeof giveUpLimits>,
): boolean {
  return receives >= limits.maxReceives || ageInSeconds >= limits.maxAgeSeconds;
}

/** The longest provider outage, in hours, that tasks survive with waits of at most `maxSeconds`. */
export function longestOutageInHours(
  maxSeconds: number,
  { maxReceives, maxAgeSeconds }: ReturnType<typeof giveUpLimits>,
): number {
  // Jitter shortens the longest wait; see `waitFor`.
  const seconds = Math.min(maxAgeSeconds, maxReceives * maxSeconds * (1 - 1 / 64));
  return Math.floor(seconds / 3_600);
}

/** Time that a function reserves after its last call, for writes and requeues, in seconds. */
export function reservedSecondsOf(timeoutSeconds: number): number {
  return Math.max(1, timeoutSeconds / 10);
}
