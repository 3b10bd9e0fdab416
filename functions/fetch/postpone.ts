import type { SQSRecord } from "aws-lambda";
import { failureOf } from "../../domain/core/failures.ts";
import { readTask } from "../../domain/fetch/task.ts";
import { type HandleFailures, redriveCountOf, rejectTo } from "../runtime/sqs-batch.ts";
import type { FetcherDependencies, TaskQueue } from "./dependencies.ts";
import { decideRetry, type RetryDecision } from "./retry-decision.ts";

/**
 * Handles the tasks of a batch that failed: hides them until their next attempt, or gives them up with the reason. What
 * can't be hidden comes again after the queue's visibility time-out.
 */
export function postpone(dependencies: FetcherDependencies): HandleFailures {
  const { retrying, clock, random, send, log } = dependencies;
  return async (failed) => {
    const decisions = failed.map((each) => decideRetry(each, retrying, clock(), random()));
    await Promise.all([hideAll(decisions, dependencies), markAwaited(decisions, dependencies)]);
    return Promise.all(
      decisions.map(async ({ type: what, record, reason }) => {
        if (what === "hide") return false;
        const giveUp = rejectTo(send, queueOf(record, dependencies).deadLetterUrl, log);
        // A group of its own: among the dead letters none is to hold up another.
        const { messageId: id, attributes } = record;
        const order = attributes.MessageGroupId === undefined ? {} : { group: id, deduplication: id };
        return giveUp({ ...record, ...redriveCountOf(record), ...order }, reason);
      }),
    );
  };
}

/** All messages of a batch are of one queue. */
async function hideAll(
  decisions: readonly RetryDecision[],
  dependencies: FetcherDependencies,
): Promise<void> {
  const { hide, log } = dependencies;
  const hidden = decisions.filter(
    (each): each is Extract<RetryDecision, { type: "hide" }> => each.type === "hide",
  );
  const [first] = hidden;
  if (first === undefined) return;
  const failures = await hide(
    queueOf(first.record, dependencies).url,
    hidden.map(({ record: { receiptHandle }, seconds }) => ({ receiptHandle, seconds })),
  );
  for (const [index, { record, correlationId, reason, seconds }] of hidden.entries()) {
    const failure = failures[index];
    const ids = { messageId: record.messageId, correlationId };
    if (failure === undefined) log("TASK_POSTPONED", { ...ids, reason, delayInSeconds: seconds });
    else log("MESSAGE_FAILED", { ...ids, reason: failure.reason });
  }
}

/** A task that failed so often is no passing trouble: a deadline that comes before it is done says so. */
const receivesOfFailing = 3;

/** Marks documents that accounts wait for and that can't be read. A mark that is lost costs a reason, and no more. */
async function markAwaited(
  decisions: readonly RetryDecision[],
  { readiness, clock, log }: FetcherDependencies,
): Promise<void> {
  if (readiness === undefined) return;
  const marks = decisions.map(
    async ({ type: what, record: { body, messageId, attributes }, correlationId }) => {
      const isFailing = Number(attributes.ApproximateReceiveCount) === receivesOfFailing;
      if (what === "hide" && !isFailing) return;
      try {
        const task = readTask(body);
        if (task.type !== "fetchDocument" || task.subject.kind !== "account") return;
        if (!readiness.endpoints.includes(task.endpoint)) return;
        const reason = what === "hide" ? "failing" : "deadLetter";
        await readiness.markFailure(task.subject, task.endpoint, { reason, at: clock() });
      } catch (error) {
        log("MESSAGE_FAILED", { messageId, correlationId, reason: failureOf(error).reason });
      }
    },
  );
  await Promise.all(marks);
}

/** The queue that a message came from: its ARN ends, as its address does, in its name. */
function queueOf({ eventSourceARN }: SQSRecord, { queues }: FetcherDependencies): TaskQueue {
  const name = eventSourceARN.split(":").at(-1);
  return queues.checks.url.endsWith(`/${name}`) ? queues.checks : queues.fetch;
}
