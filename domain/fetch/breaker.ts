import { fieldsOf, numberOf } from "../core/parse.ts";

export type BreakerSettings = {
  /** So many calls of one caller in a row must fail before all callers stop. */
  readonly failures: number;
  /** The first wait before the provider is tried again; it doubles each time. */
  readonly baseSeconds: number;
  /** The longest wait between two tries. The provider's own Retry-After may be longer. */
  readonly maxSeconds: number;
};

/**
 * What all callers share: until when none calls (milliseconds since 1970, 0: closed, all may call), and how many
 * times in a row the provider was found down.
 */
export type Breaker = { readonly openUntil: number; readonly opened: number };

export const closed: Breaker = { openUntil: 0, opened: 0 };

/**
 * What a call reported about the provider: that it lives, or that it fails and how long it asks to be left alone.
 * `isRepeated`: the same call was refused before, so that one document that is refused for good opens nothing.
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

/** The breaker after the provider was found down once more; the wait is at least half of its ceiling, at random. */
export function reopened({ opened }: Breaker, now: Date, settings: BreakerSettings, random: number): Breaker {
  const wait = waitInSeconds(opened, settings) * (0.5 + random / 2);
  return { openUntil: now.getTime() + Math.ceil(wait * 1000), opened: opened + 1 };
}

/** The breaker after the provider asked for a pause, which says nothing of whether it is down. */
export function paused({ opened }: Breaker, now: Date, seconds: number): Breaker {
  return { openUntil: now.getTime() + Math.ceil(seconds * 1000), opened };
}

/**
 * Up to how much later than the next try a task may come back: the tasks that wait are spread over twice the time
 * between tries, so that a provider that is down's backlog is not handled again and again.
 */
export function spreadInSeconds({ opened }: Breaker, settings: BreakerSettings): number {
  return 2 * waitInSeconds(opened, settings);
}

function waitInSeconds(opened: number, { baseSeconds, maxSeconds }: BreakerSettings): number {
  return Math.min(maxSeconds, baseSeconds * 2 ** opened);
}
