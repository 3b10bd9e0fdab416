import { isRefusal } from "../aws/transient-errors.ts";

/** How a client asks for a secret that has a fallback: a caller of the function waits meanwhile. */
export const briefRequests = {
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 1_500, throwOnRequestTimeout: true },
};

/** How long the last known value serves by default. */
const servesForInSeconds = 900;
/** How soon an unavailable service is asked again: not by each caller, who would wait for it. */
const asksAgainInSeconds = 10;

/**
 * Reads as `read` does. While that fails because AWS is unavailable, the value that was read last serves for 15 minutes.
 * An answer that refuses the value (no such secret, no permission, content that can't be parsed) ends that at once.
 * @param onFallback called for each failed read, when the known value is used instead
 */
export function lastKnown<T>(
  read: () => Promise<T>,
  { now, onFallback }: { readonly now: () => Date; readonly onFallback: (error: Error) => void },
): () => Promise<T> {
  let known: { readonly value: T; readonly until: number } | undefined;
  let askAgainAt = 0;
  return async () => {
    const time = now().getTime();
    if (known !== undefined && time < Math.min(askAgainAt, known.until)) return known.value;
    try {
      const value = await read();
      known = { value, until: time + servesForInSeconds * 1000 };
      return value;
    } catch (error) {
      if (isRefusal(error)) known = undefined;
      if (known === undefined || time >= known.until || !(error instanceof Error)) throw error;
      askAgainAt = time + asksAgainInSeconds * 1000;
      onFallback(error);
      return known.value;
    }
  };
}
