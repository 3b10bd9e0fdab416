import { fieldsOf, numberOf } from "../core/parse.ts";

/** The lowest rate that windows can enforce, in calls per minute. */
export const leastRequestsPerMinute = 3;

const maxWindowsPerMinute = 60;

/**
 * Divides the provider's minute into windows, each with a quota of calls, so that no minute, wherever it starts,
 * exceeds the rate less what two periods can reserve. A minute overlaps one more window than it contains, and a call
 * may arrive up to one window after its permit. Returns the division that loses the least of the rate.
 * @param requestsPerMinute at least `leastRequestsPerMinute`
 */
export function windowsOf(requestsPerMinute: number): {
  readonly windowInSeconds: number;
  readonly callsPerWindow: number;
} {
  const leasable = requestsPerMinute - 2 * reservableCalls(requestsPerMinute);
  const cuts = Array.from({ length: maxWindowsPerMinute }, (_, index) => {
    const windowsPerMinute = index + 1;
    const callsPerWindow = Math.floor(leasable / (windowsPerMinute + 2));
    return { windowInSeconds: 60 / windowsPerMinute, callsPerWindow };
  });
  return cuts.reduce((best, cut) => (rateOf(cut) > rateOf(best) ? cut : best));
}

function rateOf({ windowInSeconds, callsPerWindow }: ReturnType<typeof windowsOf>): number {
  return callsPerWindow / windowInSeconds;
}

const leastReserved = 2;
const mostReserved = 8;

/** Calls per minute that all environments together can reserve in one period: 5 % of the rate, 0 below 40. */
export function reservableCalls(requestsPerMinute: number): number {
  return leastReserved * Math.floor(requestsPerMinute / 40);
}

/**
 * Length of a period, in milliseconds. An invocation lasts at most 15 minutes, and so long may the service time that
 * it read be out of date. A minute therefore never contains calls of more than two periods.
 */
const periodMillis = 20 * 60_000;

/** The period's begin, in milliseconds since 1970. @param serviceTime by DynamoDB's clock */
export function periodOf(serviceTime: number): number {
  return serviceTime - (serviceTime % periodMillis);
}

const minuteMillis = 60_000;

/**
 * The calls per minute that one environment has reserved in a period. Each is a slot, free again a minute after its
 * call ended. Only elapsed time matters, so a wrong clock does no harm.
 */
export class Reservation {
  readonly period: number;
  readonly #elapsed: () => number;
  /** From when on each slot is free. */
  readonly #freeFrom: number[] = [];
  #isExhausted = false;

  /** @param elapsed returns a time in milliseconds that never goes back */
  constructor(period: number, elapsed: () => number) {
    this.period = period;
    this.#elapsed = elapsed;
  }

  hasFree(): boolean {
    return this.#freeFrom.some((time) => time <= this.#elapsed());
  }

  /**
   * Takes a free slot. If there is none, reserves as many calls as before, within limits: a busy environment soon has
   * enough.
   * @param reserve returns whether the period had so many calls left
   * @returns to be called when the call has ended; undefined if no slot is free
   */
  async take(reserve?: (calls: number) => Promise<boolean>): Promise<(() => void) | undefined> {
    const slots = this.#freeFrom;
    if (reserve !== undefined && !this.#isExhausted && !this.hasFree()) {
      const calls = Math.min(mostReserved, Math.max(leastReserved, slots.length));
      if (await reserve(calls)) slots.push(...Array<number>(calls).fill(Number.NEGATIVE_INFINITY));
      else this.#isExhausted = true;
    }
    const slot = slots.findIndex((time) => time <= this.#elapsed());
    if (slot < 0) return undefined;
    slots[slot] = Number.POSITIVE_INFINITY;
    return () => {
      slots[slot] = this.#elapsed() + minuteMillis;
    };
  }
}

export type BreakerSettings = ReturnType<typeof parseBreakerSettings>;

/** @throws permanent failure naming the setting */
export function parseBreakerSettings(value: unknown) {
  const fields = fieldsOf(value, "provider.breaker");
  return {
    /** Number of consecutive failures of one caller that stops all callers. */
    failures: numberOf(fields, "failures"),
    /** First wait before the provider is tried again, in seconds; it doubles each time. */
    baseSeconds: numberOf(fields, "baseSeconds"),
    /** Maximum wait between two tries, in seconds. The provider's own Retry-After may be longer. */
    maxSeconds: numberOf(fields, "maxSeconds"),
  } as const;
}

/**
 * The state that all callers share. `openUntil`: no calls before this time, in milliseconds since 1970; 0 if
 * closed. `opened`: how many times in a row the provider was found to be down.
 */
export type Breaker = { readonly openUntil: number; readonly opened: number };

export const closed: Breaker = { openUntil: 0, opened: 0 };

/**
 * State of the provider according to one call: healthy, or failing, with a pause. `isRepeated`: the same call
 * failed before, so a single document that always fails does not open the breaker.
 */
export type CallResult = "healthy" | { readonly pauseInSeconds: number; readonly isRepeated?: true };

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
