import { fieldsOf, numberOf } from "../core/parse.ts";

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

/** How long a task waits between two receives, in seconds. */
export type Pace = {
  /** First wait; it doubles with each receive. */
  readonly baseSeconds: number;
  readonly maxSeconds: number;
  /** Minimum wait that the provider, the rate limiter or the circuit breaker requires. */
  readonly atLeastSeconds?: number;
  /** Whether the task waits for a permit: for the rate limiter or a token. */
  readonly isForPermit?: boolean;
};

/**
 * Waits for a permit reach their maximum at this receive. 240 hours of such waits must not use up all
 * receives.
 */
const receivesToLongestWait = 22;

/** Maximum receives before SQS itself moves a task to the dead-letter queue, without a reason. */
export const maxReceiveCount = 1000;

/**
 * How long a task stays invisible, in whole seconds. Short waits have much jitter, so that tasks that failed together
 * do not return together; the longest have little, because receives are limited. Waits for a permit grow
 * linearly: exponential waits would keep most of a backlog waiting while the rate limiter is idle.
 * @param receives SQS's `ApproximateReceiveCount`, from 1
 * @param random a number from 0 to 1
 */
export function waitFor(
  receives: number,
  { baseSeconds, maxSeconds, atLeastSeconds = 0, isForPermit = false }: Pace,
  random: number,
): number {
  const evenly = isForPermit ? (maxSeconds / receivesToLongestWait) * receives : Number.POSITIVE_INFINITY;
  const backOff = Math.min(baseSeconds * 2 ** receives, evenly);
  const wait =
    Math.max(atLeastSeconds, backOff) < maxSeconds
      ? Math.max(atLeastSeconds, backOff / 2) + (backOff / 2) * random
      : maxSeconds * (1 - random / 64);
  return Math.max(1, Math.min(maxSeconds, Math.ceil(wait)));
}

/** When to give up a task, before SQS moves it (too many receives) or drops it (too old) without a reason. */
export type GiveUpLimits = { readonly maxReceives: number; readonly maxAgeSeconds: number };

/** Receives reserved for crashes while a task is being given up. */
const receivesForCrashes = 10;

/** Give up a task one day before a queue with a retention of two weeks would drop it. */
const partOfRetention = 13 / 14;

/** @param retentionSeconds the queue's retention period */
export function giveUpLimits(retentionSeconds: number): GiveUpLimits {
  return {
    maxReceives: maxReceiveCount - receivesForCrashes,
    maxAgeSeconds: Math.floor(retentionSeconds * partOfRetention),
  };
}

/** @param ageInSeconds time since SQS accepted the task, by a service's clock */
export function isGivenUp(receives: number, ageInSeconds: number, limits: GiveUpLimits): boolean {
  return receives >= limits.maxReceives || ageInSeconds >= limits.maxAgeSeconds;
}

/** The longest provider outage, in hours, that tasks survive with waits of at most `maxSeconds`. */
export function longestOutageInHours(
  maxSeconds: number,
  { maxReceives, maxAgeSeconds }: GiveUpLimits,
): number {
  // Jitter shortens the longest wait; see `waitFor`.
  const seconds = Math.min(maxAgeSeconds, maxReceives * maxSeconds * (1 - 1 / 64));
  return Math.floor(seconds / 3_600);
}

/** Time that a function reserves after its last call, for writes and requeues, in seconds. */
export function reservedSecondsOf(timeoutSeconds: number): number {
  return Math.max(1, timeoutSeconds / 10);
}
