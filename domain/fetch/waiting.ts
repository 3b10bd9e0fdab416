/** How long a task waits from one receive to the next, in seconds. */
export type Pace = {
  /** The first wait; it doubles with each receive. */
  readonly baseSeconds: number;
  /** The longest wait. */
  readonly maxSeconds: number;
  /** What the provider, the rate or the breaker asks for. */
  readonly atLeastSeconds?: number;
  /** Whether a permit is waited for: the rate, or a token. */
  readonly isForPermit?: boolean;
};

/** With this receive, waits for a permit are the longest: 240 hours of them must leave receives. */
const receivesToLongestWait = 22;

/** After so many receives SQS itself moves a task to the dead-letter queue, and says no reason. */
export const maxReceiveCount = 1000;

/**
 * How long a task is hidden, in whole seconds. Short waits are spread widely, so that what failed together does not come
 * back together; the longest hardly, for receives are few. Waits for a permit grow evenly once they are long: doubled, most of
 * a backlog would sleep while the rate is free.
 * @param receives SQS's `ApproximateReceiveCount`, from 1 on
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

/** When a task is given up, before SQS moves it (for its receives) or drops it (for its age) without a reason. */
export type GiveUpLimits = { readonly maxReceives: number; readonly maxAgeSeconds: number };

/** Receives that are left to a task that is given up, for crashes while it is moved. */
const receivesForCrashes = 10;

/** A task is given up a day before a queue that keeps it for two weeks would drop it. */
const partOfRetention = 13 / 14;

/** @param retentionSeconds of the queue: how long it keeps a message */
export function giveUpLimits(retentionSeconds: number): GiveUpLimits {
  return {
    maxReceives: maxReceiveCount - receivesForCrashes,
    maxAgeSeconds: Math.floor(retentionSeconds * partOfRetention),
  };
}

/** @param ageInSeconds since SQS took the task, by a service's clock */
export function isGivenUp(receives: number, ageInSeconds: number, limits: GiveUpLimits): boolean {
  return receives >= limits.maxReceives || ageInSeconds >= limits.maxAgeSeconds;
}

/** The longest outage of the provider, in hours, for which waits of at most `maxSeconds` leave receives enough. */
export function longestOutageInHours(
  maxSeconds: number,
  { maxReceives, maxAgeSeconds }: GiveUpLimits,
): number {
  // The longest wait is shortened by its jitter, see `waitFor`.
  const seconds = Math.min(maxAgeSeconds, maxReceives * maxSeconds * (1 - 1 / 64));
  return Math.floor(seconds / 3_600);
}
