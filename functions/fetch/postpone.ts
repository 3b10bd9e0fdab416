import type { SQSRecord } from "aws-lambda";
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
    await hideAll(decisions, dependencies);
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

/** The queue that a message came from: its ARN ends, as its address does, in its name. */
function queueOf({ eventSourceARN }: SQSRecord, { queues }: FetcherDependencies): TaskQueue {
  const name = eventSourceARN.split(":").at(-1);
  return queues.checks.url.endsWith(`/${name}`) ? queues.checks : queues.fetch;
}
