import type { SQSRecord } from "aws-lambda";
import type { Failure } from "../../domain/core/failures.ts";
import { present } from "../../domain/core/parse.ts";
import { correlationIdIn } from "../../domain/event/events.ts";
import { type GiveUpLimits, isGivenUp, type RetrySettings, waitFor } from "../../domain/fetch/waiting.ts";
import type { Failed } from "../runtime/sqs-batch.ts";

/** What to do with a failed task: make its message invisible for a time, or give it up with a reason. */
export type RetryDecision = {
  readonly record: SQSRecord;
  readonly reason: string;
  readonly correlationId?: string;
} & ({ readonly type: "postpone"; readonly seconds: number } | { readonly type: "give up" });

/** Age at which to give up a task that the provider refuses while it answers others. */
const refusedAloneSeconds = 3_600;

export type RetryLimits = {
  readonly retry: RetrySettings;
  readonly limits: GiveUpLimits;
  /** Age at which to give up a task whose data the provider doesn't have ready. */
  readonly longestOutageSeconds: number;
};

/**
 * Decides what to do with a failed task. All waiting is done with the visibility timeout. A task is given up
 * if it fails for good, or before SQS would move or drop it without a reason.
 * @param now milliseconds since 1970, by a service's clock
 * @param random a number from 0 to 1
 */
export function decideRetry(
  { record, failure }: Failed,
  { retry, limits, longestOutageSeconds }: RetryLimits,
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
  const asked = Math.max(1, Math.min(maxSeconds, Math.ceil(delayInSeconds + spreadInSeconds * random)));
  // A long wait, for a token for example, must not use up the receives.
  return spreadInSeconds === 0 ? asked : Math.max(asked, backOff);
}
