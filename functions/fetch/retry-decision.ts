import type { SQSRecord } from "aws-lambda";
import type { Failure } from "../../domain/core/failures.ts";
import { present } from "../../domain/core/parse.ts";
import type { RetrySettings } from "../../domain/core/retry.ts";
import { correlationIdIn } from "../../domain/event/correlation.ts";
import { type GiveUpLimits, isGivenUp, waitFor } from "../../domain/fetch/waiting.ts";
import type { Failed } from "../runtime/sqs-batch.ts";

/** What becomes of a task that failed: its message is hidden for a time, or given up with the reason. */
export type RetryDecision = {
  readonly record: SQSRecord;
  readonly reason: string;
  readonly correlationId?: string;
} & ({ readonly type: "hide"; readonly seconds: number } | { readonly type: "give up" });

/** Age at which a task is given up that the provider refuses while it answers others. */
const refusedAloneSeconds = 3_600;

export type RetryLimits = {
  readonly retry: RetrySettings;
  readonly limits: GiveUpLimits;
  /** Age at which a task is given up for which the provider is not ready. */
  readonly longestOutageSeconds: number;
};

/**
 * Decides about a task that failed. Waiting is being hidden, whatever is waited for: only what fails for good is given
 * up, and what SQS itself would soon move or drop without a reason.
 * @param now by a service's clock, milliseconds since 1970
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
  return { ...common, reason, type: "hide", seconds: secondsOf(failure, receives, retry, random) };
}

/**
 * So often a task waits exactly as long as the provider asks for until its data is ready; then the back-off counts, too, or
 * short waits would use up the receives.
 */
const heededReceives = 20;
/** What waits for a provider that is not ready comes back within this part of its wait. */
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
  // What may be long in coming, a token for example, must not use up the receives.
  return spreadInSeconds === 0 ? asked : Math.max(asked, backOff);
}
