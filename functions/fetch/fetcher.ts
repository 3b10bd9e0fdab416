import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import { type Failure, failureOf } from "../../domain/core/failures.ts";
import { millisecondsSince } from "../../domain/core/latency-metrics.ts";
import { mutex } from "../../domain/core/mutex.ts";
import { nameOf } from "../../domain/event/subjects.ts";
import { type DocumentTask, type FetchTask, isOfReceipt, type StateTask } from "../../domain/fetch/task.ts";
import { handleBatch } from "../runtime/sqs-batch.ts";
import type { TaskResult } from "./delivered-tasks.ts";
import { type Delivered, readDelivered } from "./delivered-tasks.ts";
import type { FetcherDependencies } from "./dependencies.ts";
import { type DocumentDependencies, fetchDocument } from "./fetch-document.ts";
import { fetchState } from "./fetch-state.ts";
import { postpone } from "./postpone.ts";
import type { PagesDependencies } from "./read-pages.ts";
import { startFetch, verifyStart } from "./start-fetch.ts";
import { writeBarrier } from "./write-barrier.ts";

type Invocation = Pick<Context, "getRemainingTimeInMillis">;

/** Dependencies whose calls end before the function times out. */
type TimedDependencies = FetcherDependencies & Pick<PagesDependencies, "inTurn" | "timeLeft">;
type GroupDependencies = TimedDependencies & Pick<DocumentDependencies, "untilReady">;

/** Maximum time to wait for slower calls before writing; longer than calls usually differ. */
const heldInMillis = 500;

/** Handles the fetch queue's tasks: starts data fetches, reads documents and states, verifies starts. */
export function fetcher(
  dependencies: FetcherDependencies,
): (event: SQSEvent, invocation: Invocation) => Promise<SQSBatchResponse> {
  const inTurn = mutex();
  return (event, invocation) => {
    const timeLeft = () => invocation.getRemainingTimeInMillis() - dependencies.reservedInMillis;
    const client: FetcherDependencies["client"] = {
      call: (apiCall) => dependencies.client.call({ ...apiCall, timeLeft }),
      checkReady: () => dependencies.client.checkReady(),
    };
    const timed = { ...dependencies, client, timeLeft, inTurn };
    return handleBatch((records) => performAll(records, timed), postpone(dependencies))(event);
  };
}

/** Performs the groups concurrently. One call covers all tasks of a document. */
async function performAll(
  records: readonly SQSRecord[],
  dependencies: TimedDependencies,
): Promise<readonly (Failure | undefined)[]> {
  const { groups, unreadable } = readDelivered(records);
  const failures = new Map(unreadable);
  const takeSeat = writeBarrier(groups.length);
  const performed = groups.map(async (group) => {
    const seat = takeSeat();
    const untilReady = () => seat.arrive(Math.min(heldInMillis, dependencies.timeLeft()));
    const results = await performGroup(group, { ...dependencies, untilReady }).finally(seat.leave);
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
  dependencies: GroupDependencies,
): Promise<readonly TaskResult[]> {
  const documents = group.filter(isOfDocument);
  if (documents.length > 0) {
    try {
      return await fetchDocument(documents, dependencies);
    } catch (error) {
      const failure = failureOf(error);
      return group.map(() => failure);
    }
  }
  const results: TaskResult[] = [];
  for (const delivered of group.filter(isOfState)) {
    results.push(await performOne(delivered, dependencies).catch(failureOf));
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
  dependencies: GroupDependencies,
): Promise<TaskResult> {
  switch (delivered.task.type) {
    case "startFetch":
      return startFetch(delivered, dependencies);
    case "fetchState":
      return fetchState(delivered.task, dependencies);
    case "verifyStart":
      return verifyStart(delivered, dependencies);
  }
}

function logResult(
  result: Exclude<TaskResult, Failure>,
  task: FetchTask,
  { log, now }: TimedDependencies,
): void {
  const { type, subject, correlationId } = task;
  const fields = { task: type, subject: nameOf(subject), correlationId };
  if (result === "skipped") {
    log("TASK_SKIPPED", fields);
    return;
  }
  const isAnnounced = type === "fetchDocument" && isOfReceipt(task);
  const latencies = isAnnounced && { toDocument: millisecondsSince([task.since], now().getTime()) };
  log("TASK_DONE", { ...fields, ...(latencies && { latencies }) });
}
