import type { Failure } from "./failures.ts";
import { fieldsOf, numberOf } from "./parse.ts";

export type RetrySettings = {
  /** First maximum of the back-off, in seconds; it doubles with each attempt. */
  readonly baseSeconds: number;
  /** Maximum wait in seconds, whatever the failure asks for. SQS delays a message by at most 900 seconds. */
  readonly maxSeconds: number;
};

/** @throws permanent failure naming the setting */
export function parseRetrySettings(value: unknown): RetrySettings {
  const fields = fieldsOf(value, "retry");
  return { baseSeconds: numberOf(fields, "baseSeconds"), maxSeconds: numberOf(fields, "maxSeconds") };
}

/**
 * How long to wait before the next attempt, in whole seconds: the failure's own delay plus a random part. The
 * random part is at most the failure's spread or an exponential back-off (full jitter), so that retries do
 * not coincide.
 * @param attempts number of failed attempts before this one
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
