import type { Clock } from "../clock.ts";

/** Counts calls per minute of the clock; answers how many seconds a call over the limit has to wait. */
export function createRateLimit(clock: Clock, requestsPerMinute: number): () => number | undefined {
  let minute = -1;
  let count = 0;
  return () => {
    const now = clock.now().getTime();
    const current = Math.floor(now / 60_000);
    if (current !== minute) {
      minute = current;
      count = 0;
    }
    count += 1;
    return count > requestsPerMinute ? Math.ceil(((minute + 1) * 60_000 - now) / 1000) : undefined;
  };
}
