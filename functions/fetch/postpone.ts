import type { SQSRecord } from "aws-lambda";
import { failureOf } from "../../domain/core/failures.ts";
import { readTask } from "../../domain/fetch/task.ts";
import { type HandleFailures, redriveCountOf, rejectTo } from "../runtime/sqs-batch.ts";
import type { FetcherDependencies, TaskQueue } from "./dependencies.ts";
import { decideRetry, type RetryDecision } from "./retry-decision.ts";

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
        const giveUp = rejectTo(send, queueOf(record, dependencies).deadLetterUrl, log);
        // Each dead letter gets its own message group, so that none blocks another.
        const { messageId: id, attributes } = record;
        const order = attributes.MessageGroupId === undefined ? {} : { group: id, deduplication: id };
        return giveUp({ ...record, ...redriveCountOf(record), ...order }, reason);
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
function queueOf({ eventSourceARN }: SQSRecord, { queues }: FetcherDependencies): TaskQueue {
  const name = eventSourceARN.split(":").at(-1);
  return queues.checks.url.endsWith(`/${name}`) ? queues.checks : queues.fetch;
}
