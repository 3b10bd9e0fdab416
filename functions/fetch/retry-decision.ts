import type { SQSRecord } from "aws-lambda";
import type { Failure } from "../../domain/core/failures.ts";
import { present } from "../../domain/core/parse.ts";
import { delayInSeconds, type RetrySettings } from "../../domain/core/retry.ts";
import { correlationIdIn } from "../../domain/event/correlation.ts";
import { readTaskText, resetAttempts, type Task, writeTask } from "../../domain/fetch/tasks.ts";
import { type Failed, redriveCountOf } from "../runtime/sqs-batch.ts";

/** What becomes of a task that failed. */
export type RetryDecision = {
  readonly messageId: string;
  readonly reason: string;
  readonly correlationId?: string;
  /** Of the message; what is sent in its place carries it on. */
  readonly returns?: string;
} & (
  | { readonly do: "hide"; readonly receiptHandle: string; readonly seconds: number }
  | { readonly do: "send again"; readonly task: Task; readonly seconds: number }
  | { readonly do: "give up"; readonly body: string }
);

export type RetryDecisionSettings = {
  readonly retry: RetrySettings;
  /** A provider may fail for so long before a task is given up. */
  readonly longestOutageHours: number;
  /** How often SQS delivers a message before it moves it to the dead-letter queue itself. */
  readonly maxReceiveCount: number;
};

/** Longer waits are sent again: what is hidden counts as in flight. */
const longestHiddenInSeconds = 60;

/** Receives that hiding leaves to a message, for crashes. */
const receivesLeftForCrashes = 3;

/**
 * Judges a task that failed. A short wait hides its message; a long one sends the task again with a delay, which
 * uses up neither its receive count nor the messages in flight. What waits for a token or for the rate is never
 * given up; what the provider fails is, after the longest outage. What is of a later release is left as it is.
 */
export function decideRetry(
  { record, failure }: Failed,
  { retry, longestOutageHours, maxReceiveCount }: RetryDecisionSettings,
  now: Date,
  random: number,
): RetryDecision {
  const { messageId, receiptHandle, body } = record;
  const correlation = present({ correlationId: correlationIdIn(body) });
  const common = { messageId, reason: failure.reason, ...correlation, ...redriveCountOf(record) };
  if (failure.kind === "permanent") return { ...common, do: "give up", body };
  const receives = Number(record.attributes.ApproximateReceiveCount);
  if (failure.waitsFor === "release") {
    // What can't be read can't be counted in: SQS counts how often it was hidden.
    if (receives >= maxReceiveCount) return { ...common, do: "give up", body };
    return { ...common, do: "hide", receiptHandle, seconds: failure.delayInSeconds };
  }
  const tried = readTaskText(failure.instead ?? body);
  const task = afterFailure(tried, failure, record);
  if (isOver(task, longestOutageHours, now)) {
    const reason = `${failure.reason}; given up after ${longestOutageHours} hours, see fetch.longestOutageHours`;
    return { ...common, do: "give up", body: writeTask(resetAttempts(task)), reason };
  }
  const seconds = delayInSeconds(failure, tried.attempts + receives - 1, retry, random);
  const isSame = failure.instead === undefined;
  const isHideable =
    isSame && seconds <= longestHiddenInSeconds && receives <= maxReceiveCount - receivesLeftForCrashes;
  if (isHideable) return { ...common, do: "hide", receiptHandle, seconds };
  return { ...common, do: "send again", task, seconds };
}

/** The task as it is sent again; `since` is that of an outage, which ends with a wait for anything else. */
function afterFailure(
  task: Task,
  { waitsFor }: Extract<Failure, { kind: "retryable" }>,
  { attributes }: SQSRecord,
): Task {
  const { since, ...rest } = task;
  if (waitsFor === "permit") return rest;
  const firstReceived = new Date(Number(attributes.ApproximateFirstReceiveTimestamp)).toISOString();
  const attempts = waitsFor === undefined ? task.attempts + 1 : task.attempts;
  return { ...rest, attempts, since: since ?? firstReceived };
}

function isOver({ since }: Task, longestOutageHours: number, now: Date): boolean {
  return since !== undefined && now.getTime() - Date.parse(since) >= longestOutageHours * 3_600_000;
}
