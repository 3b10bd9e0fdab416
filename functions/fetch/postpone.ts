import { present } from "../../domain/core/parse.ts";
import { writeTask } from "../../domain/fetch/tasks.ts";
import { type HandleFailures, rejectTo } from "../runtime/sqs-batch.ts";
import type { FetcherDependencies } from "./dependencies.ts";
import { decideRetry, type RetryDecision } from "./retry-decision.ts";

type Of<Do extends RetryDecision["do"]> = Extract<RetryDecision, { do: Do }>;

/** The ids of messages that are safe elsewhere; SQS delivers the rest again. */
type Safe = readonly string[];

/** Handles the tasks of a batch that failed, in as few requests as they allow: see `decideRetry`. */
export function postpone(dependencies: FetcherDependencies): HandleFailures {
  const { retrying, now, random } = dependencies;
  return async (failed) => {
    const decisions = failed.map((each) => decideRetry(each, retrying, now(), random()));
    const safe = await Promise.all([
      hideAll(only(decisions, "hide"), dependencies),
      sendAllAgain(only(decisions, "send again"), dependencies),
      giveUpAll(only(decisions, "give up"), dependencies),
    ]);
    const safeIds = new Set(safe.flat());
    return failed.map(({ record }) => safeIds.has(record.messageId));
  };
}

function only<Do extends RetryDecision["do"]>(
  decisions: readonly RetryDecision[],
  what: Do,
): readonly Of<Do>[] {
  return decisions.filter((decision): decision is Of<Do> => decision.do === what);
}

async function hideAll(
  decisions: readonly Of<"hide">[],
  { hide, queueUrl, log }: FetcherDependencies,
): Promise<Safe> {
  const failures = await hide(queueUrl, decisions);
  for (const [index, { messageId, correlationId, reason, seconds }] of decisions.entries()) {
    const failure = failures[index];
    const ids = { messageId, correlationId };
    if (failure === undefined) log("TASK_POSTPONED", { ...ids, reason, delayInSeconds: seconds });
    else log("MESSAGE_FAILED", { ...ids, reason: failure.reason });
  }
  return [];
}

async function sendAllAgain(
  decisions: readonly Of<"send again">[],
  { send, queueUrl, log }: FetcherDependencies,
): Promise<Safe> {
  const failures = await send(
    queueUrl,
    decisions.map(({ task, seconds, returns }) => ({
      body: writeTask(task),
      delayInSeconds: seconds,
      ...present({ returns }),
    })),
  );
  return decisions.flatMap(({ messageId, correlationId, reason, task, seconds }, index) => {
    const failure = failures[index];
    const ids = { messageId, correlationId };
    if (failure !== undefined) {
      log("MESSAGE_FAILED", { ...ids, reason: failure.reason });
      return [];
    }
    log("TASK_POSTPONED", { ...ids, reason, attempts: task.attempts, delayInSeconds: seconds });
    return [messageId];
  });
}

async function giveUpAll(
  decisions: readonly Of<"give up">[],
  { send, deadLetterQueueUrl, log }: FetcherDependencies,
): Promise<Safe> {
  const giveUp = rejectTo(send, deadLetterQueueUrl, log);
  const isSafe = await Promise.all(decisions.map((decision) => giveUp(decision, decision.reason)));
  return decisions.flatMap(({ messageId }, index) => (isSafe[index] === true ? [messageId] : []));
}
