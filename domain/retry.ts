import type { Failure } from "./failures.ts";

export type RetrySettings = {
  readonly baseInSeconds: number;
  readonly maxInSeconds: number;
  readonly maxAttempts: number;
};

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
  const ceiling = Math.min(settings.maxInSeconds, settings.baseInSeconds * 2 ** attempts);
  return Math.max(1, failure.delayInSeconds, Math.ceil(ceiling * random));
}
