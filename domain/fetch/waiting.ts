/** How long a task waits from one receive to the next, in seconds. */
export type Pace = {
  /** The first wait; it doubles with each receive. */
  readonly baseSeconds: number;
  /** The longest wait. */
  readonly maxSeconds: number;
  /** What the provider, the rate or the breaker asks for. */
  readonly atLeastSeconds?: number;
};

/** After so many receives SQS itself moves a task to the dead-letter queue, and says no reason. */
export const maxReceiveCount = 1000;

/** The longest outage that tasks can be given, in hours: at the longest wait they are received about 980 times. */
export const maxOutageInHours = 240;

const lastReceive = 990;
const maxAgeInMillis = 13 * 86_400_000;

/**
 * How long a task is hidden, in whole seconds. Short waits are spread widely, so that what failed together does not come
 * back together; the longest hardly, for receives are few.
 * @param receives SQS's `ApproximateReceiveCount`, from 1 on
 * @param random a number from 0 to 1
 */
export function waitFor(
  receives: number,
  { baseSeconds, maxSeconds, atLeastSeconds = 0 }: Pace,
  random: number,
): number {
  const backOff = baseSeconds * 2 ** receives;
  const wait =
    Math.max(atLeastSeconds, backOff) < maxSeconds
      ? Math.max(atLeastSeconds, backOff / 2) + (backOff / 2) * random
      : maxSeconds * (1 - random / 64);
  return Math.max(1, Math.min(maxSeconds, Math.ceil(wait)));
}

/**
 * Whether a task that failed goes to the dead-letter queue with its reason, before SQS moves or drops it without one.
 * @param sentAt SQS's `SentTimestamp`, milliseconds since 1970
 * @param now by a service's clock, as `timeBefore` of `coverage.ts`
 */
export function isGivenUp(receives: number, sentAt: number, now: number): boolean {
  return receives >= lastReceive || now - sentAt >= maxAgeInMillis;
}
