import type { Failure } from "./failures.ts";
import { fieldsOf, numberOf } from "./parse.ts";

export type RetrySettings = {
  /** The back-off's first ceiling; it doubles with each attempt. */
  readonly baseSeconds: number;
  /** The longest wait at once, whatever asks for more: SQS delays a message by 900 seconds at most. */
  readonly maxSeconds: number;
};

/** @throws permanent failure naming the setting */
export function parseRetrySettings(value: unknown): RetrySettings {
  const fields = fieldsOf(value, "retry");
  return { baseSeconds: numberOf(fields, "baseSeconds"), maxSeconds: numberOf(fields, "maxSeconds") };
}

/**
 * How long to wait before the next attempt, in whole seconds: what the failure itself asks for, and on top of it
 * at random up to its spread, or up to an exponential back-off (full jitter), so that what failed together does
 * not come back together.
 * @param attempts how many have failed before this one
 * @param random a number from 0 to 1
 */
export function delayInSeconds(
  failure: Extract<Failure, { type: "retryable" }>,
  attempts: number,
  { baseSeconds, maxSeconds }: RetrySettings,
  random: number,
): number {
  const spread = failure.spreadInSeconds ?? Math.min(maxSeconds, baseSeconds * 2 ** attempts);
  const delay = Math.min(maxSeconds, failure.delayInSeconds + spread * random);
  return Math.max(1, Math.ceil(delay));
}
