import { delayInSeconds } from "../../domain/retry.ts";
import { readTaskText, writeTask } from "../../domain/tasks.ts";
import { deadLetter, type Settle } from "../runtime/sqs-batch.ts";
import type { FetcherDependencies } from "./dependencies.ts";

/** SQS: a message is delayed at most 15 minutes. */
const longestDelayInSeconds = 900;

/**
 * Settles a task that failed: sent again with a delay and its attempts counted, so that waiting uses up neither
 * the receive count nor the messages in flight; given up into the dead-letter queue with its reason. A task that
 * waits for a token or for the next window is never given up.
 */
export function postpone({
  send,
  queueUrl,
  deadLetterQueueUrl,
  retry,
  random,
  log,
}: FetcherDependencies): Settle {
  const giveUp = deadLetter(send, deadLetterQueueUrl, log);
  return async (record, failure) => {
    const { messageId } = record;
    if (failure.kind === "permanent") return giveUp(record, failure.reason);
    const task = readTaskText(record.body);
    const attempts = task.attempts + (failure.isWaiting === true ? 0 : 1);
    if (attempts >= retry.maxAttempts) {
      // Redriven, it begins anew.
      const body = writeTask({ ...task, attempts: 0 });
      return giveUp({ ...record, body }, `${failure.reason}, ${attempts} times`);
    }
    const delay = Math.min(longestDelayInSeconds, delayInSeconds(failure, task.attempts, retry, random()));
    const [failed] = await send(queueUrl, [
      { body: writeTask({ ...task, attempts }), delayInSeconds: delay },
    ]);
    if (failed === undefined) {
      log("TASK_POSTPONED", { messageId, reason: failure.reason, attempts, delayInSeconds: delay });
    } else log("MESSAGE_FAILED", { messageId, reason: failed.reason });
    return failed === undefined;
  };
}
