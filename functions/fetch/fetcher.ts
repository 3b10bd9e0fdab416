import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import { type Failure, failureOf } from "../../domain/core/failures.ts";
import { millisecondsSince } from "../../domain/core/latency-metrics.ts";
import { mutex } from "../../domain/core/mutex.ts";
import { type DocumentTask, type FetchTask, isOfReceipt, type StateTask } from "../../domain/fetch/task.ts";
import { handleBatch } from "../runtime/sqs-batch.ts";
import type { TaskResult } from "./delivered-tasks.ts";
import { type Delivered, readDelivered } from "./delivered-tasks.ts";
import type { FetcherDependencies, TaskRun } from "./dependencies.ts";
import { fetchDocument } from "./fetch-document.ts";
import { fetchState } from "./fetch-state.ts";
import { postpone } from "./postpone.ts";
import { startFetch, verifyStart } from "./start-fetch.ts";
import { CountdownLatch } from "./write-barrier.ts";

type Invocation = Pick<Context, "getRemainingTimeInMillis">;

/** Maximum time to wait for slower calls before writing; longer than calls usually differ. */
const maxWaitInMillis = 500;

/** Handles the fetch queue's tasks: starts data fetches, reads documents and states, verifies starts. */
export function fetcher(
  dependencies: FetcherDependencies,
): (event: SQSEvent, invocation: Invocation) => Promise<SQSBatchResponse> {
  const pageMutex = mutex();
  return (event, invocation) => {
    const timeLeft = () => invocation.getRemainingTimeInMillis() - dependencies.reservedInMillis;
    const client: FetcherDependencies["client"] = {
      call: (apiCall) => dependencies.client.call({ ...apiCall, timeLeft }),
      checkReady: () => dependencies.client.checkReady(),
    };
    const perform = (records: readonly SQSRecord[]) =>
      performAll(records, { ...dependencies, client }, { timeLeft, pageMutex });
    return handleBatch(perform, postpone(dependencies))(event);
  };
}

/** Performs the groups concurrently. One call covers all tasks of a document. */
async function performAll(
  records: readonly SQSRecord[],
  dependencies: FetcherDependencies,
  { timeLeft, pageMutex }: Pick<TaskRun, "timeLeft" | "pageMutex">,
): Promise<readonly (Failure | undefined)[]> {
  const { groups, unreadable } = readDelivered(records);
  const failures = new Map(unreadable);
  const latch = new CountdownLatch(groups.length);
  const performed = groups.map(async (group) => {
    const { wait, countDown } = latch.join();
    const untilReady = () => wait(Math.min(maxWaitInMillis, timeLeft()));
    const run = { timeLeft, pageMutex, untilReady };
    const results = await performGroup(group, dependencies, run).finally(countDown);
    for (const [index, result] of results.entries()) {
      const delivered = group[index];
      if (delivered === undefined) continue;
      if (typeof result === "object") failures.set(delivered.delivery.messageId, result);
      else logResult(result, delivered.task, dependencies);
    }
  });
  await Promise.all(performed);
  return records.map(({ messageId }) => failures.get(messageId));
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
