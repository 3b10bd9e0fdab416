import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import { mutex } from "../../domain/core/batches.ts";
import { type Failure, failureOf } from "../../domain/core/failures.ts";
import { present } from "../../domain/core/parse.ts";
import { correlationIdIn, millisecondsSince } from "../../domain/event/events.ts";
import {
  type DocumentTask,
  type FetchTask,
  groupOf,
  isGivenUp,
  isOfReceipt,
  type RetrySettings,
  readTask,
  type StateTask,
  waitFor,
} from "../../domain/fetch/task.ts";
import {
  type Failed,
  type HandleFailures,
  handleBatch,
  redriveCountOf,
  rejectAll,
} from "../runtime/sqs-batch.ts";
import {
  type Delivered,
  type FetcherDependencies,
  fetchDocument,
  type TaskResult,
  type TaskRun,
} from "./fetch-document.ts";
import { fetchState, startFetch, verifyStart } from "./state-tasks.ts";

/**
 * Handles a batch's failed tasks: makes them invisible until their next attempt, or gives them up with a
 * reason. If the visibility can't be changed, a message reappears after the queue's visibility timeout.
 */
export function postpone(dependencies: FetcherDependencies): HandleFailures {
  const { retrying, clock, random, send, log } = dependencies;
  return async (failed) => {
    const decisions = failed.map((each) => decideRetry(each, retrying, clock(), random()));
    await Promise.all([postponeAll(decisions, dependencies), markAwaited(decisions, dependencies)]);
    return Promise.all(
      decisions.map(async ({ type, record, reason }) => {
        if (type === "postpone") return false;
        // Each dead letter gets its own message group, so that none blocks another.
        const { messageId: id, attributes } = record;
        const order = attributes.MessageGroupId === undefined ? {} : { group: id, deduplication: id };
        const letter = { ...record, ...redriveCountOf(record), ...order, reason };
        return (
          (await rejectAll([letter], send, queueOf(record, dependencies).deadLetterUrl, log))[0] === true
        );
      }),
    );
  };
}

/** All messages of a batch come from one queue. */
async function postponeAll(
  decisions: readonly RetryDecision[],
  dependencies: FetcherDependencies,
): Promise<void> {
  const { changeVisibility, log } = dependencies;
  const postponed = decisions.filter(
    (each): each is Extract<RetryDecision, { type: "postpone" }> => each.type === "postpone",
  );
  const [first] = postponed;
  if (first === undefined) return;
  const failures = await changeVisibility(
    queueOf(first.record, dependencies).url,
    postponed.map(({ record: { receiptHandle }, seconds }) => ({ receiptHandle, seconds })),
  );
  for (const [index, { record, correlationId, reason, seconds }] of postponed.entries()) {
    const failure = failures[index];
    const ids = { messageId: record.messageId, correlationId };
    if (failure === undefined) log("TASK_POSTPONED", { ...ids, reason, delayInSeconds: seconds });
    else log("MESSAGE_FAILED", { ...ids, reason: failure.reason });
  }
}

/** Receive count at which a failing task is marked, so that a missed deadline names it. */
const receivesOfFailing = 3;

/** Marks documents in the `readiness` setting that can't be read. A lost mark only loses the reason. */
async function markAwaited(
  decisions: readonly RetryDecision[],
  { readiness, clock, log }: FetcherDependencies,
): Promise<void> {
  if (readiness === undefined) return;
  const marks = decisions.map(async ({ type, record: { body, messageId, attributes }, correlationId }) => {
    const isFailing = Number(attributes.ApproximateReceiveCount) === receivesOfFailing;
    if (type === "postpone" && !isFailing) return;
    try {
      const task = readTask(body);
      if (task.type !== "fetchDocument" || task.subject.kind !== "account") return;
      if (!readiness.endpoints.includes(task.endpoint)) return;
      const reason = type === "postpone" ? "failing" : "deadLetter";
      await readiness.markFailure(task.subject, task.endpoint, { reason, at: clock() });
    } catch (error) {
      log("MESSAGE_FAILED", { messageId, correlationId, reason: failureOf(error).reason });
    }
  });
  await Promise.all(marks);
}

/** The queue that a message came from. Its ARN and its URL end in the same name. */
function queueOf({ eventSourceARN }: SQSRecord, { queues }: FetcherDependencies) {
  const name = eventSourceARN.split(":").at(-1);
  return queues.checks.url.endsWith(`/${name}`) ? queues.checks : queues.fetch;
}

/** Maximum time to wait for slower calls before writing; longer than calls usually differ. */
const maxWaitInMillis = 500;

/** Handles the fetch queue's tasks: starts data fetches, reads documents and states, verifies starts. */
export function fetcher(
  dependencies: FetcherDependencies,
): (event: SQSEvent, invocation: Pick<Context, "getRemainingTimeInMillis">) => Promise<SQSBatchResponse> {
  const pageMutex = mutex();
  return (event, invocation) => {
    const timeLeft = () => invocation.getRemainingTimeInMillis() - dependencies.reservedInMillis;
    const client: FetcherDependencies["client"] = {
      // Other calls than early ones follow a read of the table in this invocation.
      call: (apiCall) =>
        dependencies.client.call({ serviceTime: dependencies.clock(), ...apiCall, timeLeft }),
      gate: () => dependencies.client.gate(),
      prepare: () => dependencies.client.prepare(),
    };
    const perform = (records: readonly SQSRecord[]) =>
      performAll(records, { ...dependencies, client }, { timeLeft, pageMutex });
    return handleBatch(perform, postpone(dependencies))(event);
  };
}

/**
 * Holds fast callers until slower ones are ready, so that they share one request. Without it, the benchmark counts
 * 14 % more requests to the table and 15 % more processor time of fetch (`ddb-requests-30`, `cpu-fetch`), though its
 * provider answers at once. An invocation lasts as long as its slowest call anyway.
 */
export class CountdownLatch {
  /** Callers that are not ready yet. */
  readonly #running: Set<unknown>;
  #opening: PromiseWithResolvers<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(callers: Iterable<unknown>) {
    this.#running = new Set(callers);
  }

  /** Waits until all other callers are ready, at most `maxMillis` after the first wait. Works once per caller. */
  async wait(caller: unknown, maxMillis: number): Promise<void> {
    if (!this.#running.has(caller)) return;
    this.#opening ??= Promise.withResolvers();
    this.#timer ??= setTimeout(() => this.#open(), Math.max(0, maxMillis));
    const { promise } = this.#opening;
    this.countDown(caller);
    await promise;
  }

  /** Makes the others stop waiting for this caller. Has no effect after `wait`. */
  countDown(caller: unknown): void {
    if (this.#running.delete(caller) && this.#running.size === 0) this.#open();
  }

  #open(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#opening?.resolve();
    this.#opening = undefined;
  }
}

/** Performs the groups concurrently. One call covers all tasks of a document. */
async function performAll(
  records: readonly SQSRecord[],
  dependencies: FetcherDependencies,
  { timeLeft, pageMutex }: Pick<TaskRun, "timeLeft" | "pageMutex">,
): Promise<readonly (Failure | undefined)[]> {
  const { groups, failures } = readDelivered(records);
  const latch = new CountdownLatch(groups);
  const performed = groups.map(async (group) => {
    const untilReady = () => latch.wait(group, Math.min(maxWaitInMillis, timeLeft()));
    const run = { timeLeft, pageMutex, untilReady };
    const results = await performGroup(group, dependencies, run).finally(() => latch.countDown(group));
    for (const [index, result] of results.entries()) {
      const delivered = group[index];
      if (delivered === undefined) continue;
      if (typeof result === "object") failures.set(delivered.messageId, result);
      else logResult(result, delivered.task, dependencies);
    }
  });
  await Promise.all(performed);
  return records.map(({ messageId }) => failures.get(messageId));
}

/** Reads a batch's tasks, in order by group. @returns the failures of unreadable messages by message id */
function readDelivered(records: readonly SQSRecord[]) {
  const groups = new Map<string, Delivered[]>();
  const failures = new Map<string, Failure>();
  for (const record of records) {
    try {
      const task = readTask(record.body);
      const group = groups.get(groupOf(task)) ?? [];
      group.push(deliveredTask(task, record));
      groups.set(groupOf(task), group);
    } catch (error) {
      failures.set(record.messageId, failureOf(error));
    }
  }
  return { groups: [...groups.values()], failures };
}

function deliveredTask(task: FetchTask, { messageId, attributes }: SQSRecord): Delivered {
  return {
    task,
    messageId,
    since: task.type === "fetchDocument" ? task.since : Number(attributes.SentTimestamp),
    firstReceivedAt: Number(attributes.ApproximateFirstReceiveTimestamp),
    receives: Number(attributes.ApproximateReceiveCount),
  };
}

async function performGroup(
  group: readonly Delivered[],
  dependencies: FetcherDependencies,
  run: TaskRun,
): Promise<readonly TaskResult[]> {
  const documents = group.filter(isOfDocument);
  if (documents.length > 0) {
    try {
      return await fetchDocument(documents, dependencies, run);
    } catch (error) {
      const failure = failureOf(error);
      return group.map(() => failure);
    }
  }
  const results: TaskResult[] = [];
  for (const delivered of group.filter(isOfState)) {
    results.push(await performOne(delivered, dependencies, run).catch(failureOf));
  }
  return results;
}

function isOfDocument(delivered: Delivered): delivered is Delivered<DocumentTask> {
  return delivered.task.type === "fetchDocument";
}

function isOfState(delivered: Delivered): delivered is Delivered<StateTask> {
  return !isOfDocument(delivered);
}

async function performOne(
  delivered: Delivered<StateTask>,
  dependencies: FetcherDependencies,
  run: TaskRun,
): Promise<TaskResult> {
  switch (delivered.task.type) {
    case "startFetch":
      return startFetch(delivered, dependencies, run);
    case "fetchState":
      return fetchState(delivered.task, dependencies);
    case "verifyStart":
      return verifyStart(delivered, dependencies);
  }
}

function logResult(
  result: Exclude<TaskResult, Failure>,
  task: FetchTask,
  { log, now }: FetcherDependencies,
): void {
  const { type, subject, correlationId } = task;
  const fields = { task: type, subject, correlationId };
  if (result === "skipped") {
    log("TASK_SKIPPED", fields);
    return;
  }
  const isAnnounced = type === "fetchDocument" && isOfReceipt(task);
  const latencies = isAnnounced && { toDocument: millisecondsSince([task.since], now().getTime()) };
  log("TASK_DONE", { ...fields, ...(latencies && { latencies }) });
}

/** The decision about a failed task: retry it after a time, or give it up with a reason. */
export type RetryDecision = {
  readonly record: SQSRecord;
  readonly reason: string;
  readonly correlationId?: string;
} & ({ readonly type: "postpone"; readonly seconds: number } | { readonly type: "give up" });

/** Age at which to give up a task that the provider refuses while it answers others. */
const refusedAloneSeconds = 3_600;

/**
 * Decides what to do with a failed task. All waiting is done with the visibility timeout. A task is given up
 * if it fails for good, or before SQS would move or drop it without a reason.
 * @param now milliseconds since 1970, by a service's clock
 * @param random a number from 0 to 1
 */
export function decideRetry(
  { record, failure }: Failed,
  { retry, limits, longestOutageSeconds }: FetcherDependencies["retrying"],
  now: number,
  random: number,
): RetryDecision {
  const { reason } = failure;
  const common = { record, ...present({ correlationId: correlationIdIn(record.body) }) };
  if (failure.type === "permanent") return { ...common, reason, type: "give up" };
  const sentAt = Number(record.attributes.SentTimestamp);
  const ageInSeconds = Math.floor((now - sentAt) / 1000);
  if (failure.refused === "alone" && ageInSeconds >= refusedAloneSeconds) {
    return { ...common, reason: `${reason} for over an hour, and answered others`, type: "give up" };
  }
  if (failure.waitsFor === "data" && ageInSeconds >= longestOutageSeconds) {
    const after = `${Math.floor(ageInSeconds / 3_600)} hours; see fetch.longestOutageHours`;
    return { ...common, reason: `${reason}; given up after ${after}`, type: "give up" };
  }
  const receives = Number(record.attributes.ApproximateReceiveCount);
  if (isGivenUp(receives, ageInSeconds, limits)) {
    const after = `${receives} attempts in ${Math.floor(ageInSeconds / 3_600)} hours`;
    return { ...common, reason: `${reason}; given up after ${after}`, type: "give up" };
  }
  return { ...common, reason, type: "postpone", seconds: secondsOf(failure, receives, retry, random) };
}

/**
 * Up to this receive count, a task waits exactly as long as the provider asks until its data is ready. After
 * it the back-off counts too; otherwise short waits would use up the receives.
 */
const heededReceives = 20;

/** Divisor of a wait for data: it is extended at random by up to a sixteenth. */
const heededSpread = 16;

/** SQS's limit of 12 hours, less what the invocation takes. */
const longestInvisibleSeconds = 43_200 - 900;

function secondsOf(
  { delayInSeconds, spreadInSeconds, waitsFor }: Extract<Failure, { type: "retryable" }>,
  receives: number,
  { baseSeconds, maxSeconds }: RetrySettings,
  random: number,
): number {
  if (
    waitsFor === "data" &&
    delayInSeconds > 0 &&
    (receives <= heededReceives || delayInSeconds > maxSeconds)
  )
    return Math.ceil(delayInSeconds * (1 + random / heededSpread));
  const isForPermit = waitsFor === "permit";
  const pace = { baseSeconds, maxSeconds, atLeastSeconds: delayInSeconds, isForPermit };
  const backOff = waitFor(receives, pace, random);
  if (spreadInSeconds === undefined) return backOff;
  // An exact wait, of a start's check, needs no look before its end.
  const longest = spreadInSeconds === 0 ? longestInvisibleSeconds : maxSeconds;
  const asked = Math.max(1, Math.min(longest, Math.ceil(delayInSeconds + spreadInSeconds * random)));
  // A long wait, for a token for example, must not use up the receives.
  return spreadInSeconds === 0 ? asked : Math.max(asked, backOff);
}
