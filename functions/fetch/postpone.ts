import { present } from "../../domain/core/parse.ts";
import { writeTask } from "../../domain/fetch/tasks.ts";
import { deadLetter, type Settle } from "../runtime/sqs-batch.ts";
import type { FetcherDependencies } from "./dependencies.ts";
import { type Verdict, verdictOn } from "./retry-decision.ts";

type Of<Do extends Verdict["do"]> = Extract<Verdict, { do: Do }>;

/** The ids of messages that are safe elsewhere; SQS delivers the rest again. */
type Safe = readonly string[];

/** Settles the tasks of a batch that failed, in as few requests as they allow: see `verdictOn`. */
export function postpone(dependencies: FetcherDependencies): Settle {
  const { retrying, now, random } = dependencies;
  return async (failed) => {
    const verdicts = failed.map((each) => verdictOn(each, retrying, now(), random()));
    const safe = await Promise.all([
      hideAll(only(verdicts, "hide"), dependencies),
      sendAllAgain(only(verdicts, "send again"), dependencies),
      giveUpAll(only(verdicts, "give up"), dependencies),
    ]);
    const safeIds = new Set(safe.flat());
    return failed.map(({ record }) => safeIds.has(record.messageId));
  };
}

function only<Do extends Verdict["do"]>(verdicts: readonly Verdict[], what: Do): readonly Of<Do>[] {
  return verdicts.filter((verdict): verdict is Of<Do> => verdict.do === what);
}

async function hideAll(
  verdicts: readonly Of<"hide">[],
  { hide, queueUrl, log }: FetcherDependencies,
): Promise<Safe> {
  const failures = await hide(queueUrl, verdicts);
  for (const [index, { messageId, correlationId, reason, seconds }] of verdicts.entries()) {
    const failure = failures[index];
    const ids = { messageId, correlationId };
    if (failure === undefined) log("TASK_POSTPONED", { ...ids, reason, delayInSeconds: seconds });
    else log("MESSAGE_FAILED", { ...ids, reason: failure.reason });
  }
  return [];
}

async function sendAllAgain(
  verdicts: readonly Of<"send again">[],
  { send, queueUrl, log }: FetcherDependencies,
): Promise<Safe> {
  const failures = await send(
    queueUrl,
    verdicts.map(({ task, seconds, returns }) => ({
      body: writeTask(task),
      delayInSeconds: seconds,
      ...present({ returns }),
    })),
  );
  return verdicts.flatMap(({ messageId, correlationId, reason, task, seconds }, index) => {
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
  verdicts: readonly Of<"give up">[],
  { send, deadLetterQueueUrl, log }: FetcherDependencies,
): Promise<Safe> {
  const giveUp = deadLetter(send, deadLetterQueueUrl, log);
  const isSafe = await Promise.all(verdicts.map((verdict) => giveUp(verdict, verdict.reason)));
  return verdicts.flatMap(({ messageId }, index) => (isSafe[index] === true ? [messageId] : []));
}
