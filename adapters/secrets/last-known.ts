import { isRefusal } from "../aws/transient-errors.ts";

/** Client settings for a secret that has a fallback. Short, since the function's caller is waiting. */
export const briefRequests = {
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 1_500, throwOnRequestTimeout: true },
};

/** How long the last value is used by default. */
const servesForInSeconds = 900;
/** How soon an unavailable service is retried: not by each caller, which would wait for it. */
const asksAgainInSeconds = 10;

/**
 * Reads as `read` does. While AWS is unavailable, returns the last value for up to 15 minutes. A refusal (no such
 * secret, no permission, invalid content) discards that value at once.
 * @param onFallback called for each failed read, when the last value is returned instead
 */
export function lastKnown<T>(
  read: () => Promise<T>,
  { now, onFallback }: { readonly now: () => Date; readonly onFallback: (error: Error) => void },
): () => Promise<T> {
  let cached: { readonly value: T; readonly until: number } | undefined;
  let askAgainAt = 0;
  return async () => {
    const time = now().getTime();
    if (cached !== undefined && time < Math.min(askAgainAt, cached.until)) return cached.value;
    try {
      const value = await read();
      cached = { value, until: time + servesForInSeconds * 1000 };
      return value;
    } catch (error) {
      if (isRefusal(error)) cached = undefined;
      if (cached === undefined || time >= cached.until || !(error instanceof Error)) throw error;
      askAgainAt = time + asksAgainInSeconds * 1000;
      onFallback(error);
      return cached.value;
    }
  };
}
