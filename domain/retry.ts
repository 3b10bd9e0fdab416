import type { Failure } from "./failures.ts";
import { fieldsOf, numberOf } from "./parse.ts";

export type RetrySettings = {
  readonly baseSeconds: number;
  readonly maxSeconds: number;
  readonly maxAttempts: number;
};

/** @throws permanent failure naming the setting */
export function parseRetrySettings(value: unknown): RetrySettings {
  const fields = fieldsOf(value, "retry");
  return {
    baseSeconds: numberOf(fields, "baseSeconds"),
    maxSeconds: numberOf(fields, "maxSeconds"),
    maxAttempts: numberOf(fields, "maxAttempts"),
  };
}

/**
 * How long to wait before the next attempt: exponential back-off with full jitter, never sooner than the
 * failure itself asks for, at least one second.
 * @param attempts how many have failed before this one
 * @param random a number from 0 to 1
 */
export function delayInSeconds(
  failure: Extract<Failure, { kind: "retryable" }>,
  attempts: number,
  settings: RetrySettings,
  random: number,
): number {
  const ceiling = Math.min(settings.maxSeconds, settings.baseSeconds * 2 ** attempts);
  return Math.max(1, failure.delayInSeconds, Math.ceil(ceiling * random));
}
