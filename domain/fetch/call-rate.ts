/** Divides the provider's minute into windows, each with a quota of calls. */
export type Windows = { readonly windowInSeconds: number; readonly callsPerWindow: number };

/** The lowest rate that windows can enforce, in calls per minute. */
export const leastRequestsPerMinute = 3;

const maxWindowsPerMinute = 60;

/**
 * Divides a minute into windows so that no minute, wherever it starts, exceeds the rate less what two periods can
 * reserve. A minute overlaps one more window than it contains, and a call may arrive up to one window after its permit.
 * Returns the division that loses the least of the rate.
 * @param requestsPerMinute at least `leastRequestsPerMinute`
 */
export function windowsOf(requestsPerMinute: number): Windows {
  const leasable = requestsPerMinute - 2 * reservableCalls(requestsPerMinute);
  const cuts = Array.from({ length: maxWindowsPerMinute }, (_, index) => {
    const windowsPerMinute = index + 1;
    const callsPerWindow = Math.floor(leasable / (windowsPerMinute + 2));
    return { windowInSeconds: 60 / windowsPerMinute, callsPerWindow };
  });
  return cuts.reduce((best, cut) => (rateOf(cut) > rateOf(best) ? cut : best));
}

function rateOf({ windowInSeconds, callsPerWindow }: Windows): number {
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
  /** Whether the period's counter is used up. */
  isExhausted = false;
  readonly #slots: { freeAt: number }[] = [];

  constructor(period: number) {
    this.period = period;
  }

  /** How many calls to reserve next, as many as before within limits: an environment that is busy soon has enough. */
  get nextSize(): number {
    return Math.min(mostReserved, Math.max(leastReserved, this.#slots.length));
  }

  add(calls: number): void {
    this.#slots.push(...Array.from({ length: calls }, () => ({ freeAt: Number.NEGATIVE_INFINITY })));
  }

  hasFree(elapsed: number): boolean {
    return this.#slots.some(({ freeAt }) => freeAt <= elapsed);
  }

  /**
   * Takes a free slot.
   * @param elapsed returns a time in milliseconds that never goes back
   * @returns to be called when the call has ended; undefined if no slot is free
   */
  take(elapsed: () => number): (() => void) | undefined {
    const slot = this.#slots.find(({ freeAt }) => freeAt <= elapsed());
    if (slot === undefined) return undefined;
    slot.freeAt = Number.POSITIVE_INFINITY;
    return () => {
      slot.freeAt = elapsed() + minuteMillis;
    };
  }
}
