import { fieldsOf, numberOf } from "../core/parse.ts";

export type BreakerSettings = {
  /** Number of consecutive failures of one caller that stops all callers. */
  readonly failures: number;
  /** First wait before the provider is tried again, in seconds; it doubles each time. */
  readonly baseSeconds: number;
  /** Maximum wait between two tries, in seconds. The provider's own Retry-After may be longer. */
  readonly maxSeconds: number;
};

/**
 * The state that all callers share. `openUntil`: no calls before this time, in milliseconds since 1970; 0 if
 * closed. `opened`: how many times in a row the provider was found to be down.
 */
export type Breaker = { readonly openUntil: number; readonly opened: number };

export const closed: Breaker = { openUntil: 0, opened: 0 };

/**
 * What a call tells about the provider: it is healthy, or it fails and asks for a pause. `isRepeated`: the
 * same call failed before, so a single document that always fails does not open the breaker.
 */
export type CallResult = "healthy" | { readonly pauseInSeconds: number; readonly isRepeated?: true };

/** @throws permanent failure naming the setting */
export function parseBreakerSettings(value: unknown): BreakerSettings {
  const fields = fieldsOf(value, "provider.breaker");
  return {
    failures: numberOf(fields, "failures"),
    baseSeconds: numberOf(fields, "baseSeconds"),
    maxSeconds: numberOf(fields, "maxSeconds"),
  };
}

/**
 * The breaker after the provider was found to be down again. The wait is random, at least half of its
 * maximum.
 */
export function reopened({ opened }: Breaker, now: Date, settings: BreakerSettings, random: number): Breaker {
  const wait = waitInSeconds(opened, settings) * (0.5 + random / 2);
  return { openUntil: now.getTime() + Math.ceil(wait * 1000), opened: opened + 1 };
}

/** The breaker after the provider asked for a pause, which does not mean that it is down. */
export function paused({ opened }: Breaker, now: Date, seconds: number): Breaker {
  return { openUntil: now.getTime() + Math.ceil(seconds * 1000), opened };
}

/**
 * Maximum delay of a task after the next try, in seconds. Tasks are spread over twice the time between tries,
 * so that an outage does not retry the whole backlog at every try.
 */
export function spreadInSeconds({ opened }: Breaker, settings: BreakerSettings): number {
  return 2 * waitInSeconds(opened, settings);
}

function waitInSeconds(opened: number, { baseSeconds, maxSeconds }: BreakerSettings): number {
  return Math.min(maxSeconds, baseSeconds * 2 ** opened);
}
