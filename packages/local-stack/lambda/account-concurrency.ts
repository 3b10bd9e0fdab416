/** Unreserved concurrency of an account. */
export type AccountConcurrency = {
  /** Takes one execution; returns false if none is left, and the invocation is throttled. */
  take(): boolean;
  release(): void;
  /**
   * Occupies this many executions for other functions of the account; returns a function that releases them.
   */
  occupy(count: number): () => void;
};

/** Default quota of an account; new accounts may have 10. Source: Lambda developer guide, "Lambda quotas". */
const defaultConcurrency = 1000;

/** @param reserved concurrency that functions reserve, unavailable to others even while unused */
export function createAccountConcurrency(
  reserved: readonly number[],
  concurrency: number = defaultConcurrency,
): AccountConcurrency {
  let left = reserved.reduce((rest, each) => rest - each, concurrency);
  return {
    take: () => {
      if (left <= 0) return false;
      left -= 1;
      return true;
    },
    release: () => {
      left += 1;
    },
    occupy: (count) => {
      left -= count;
      let isHeld = true;
      return () => {
        if (isHeld) left += count;
        isHeld = false;
      };
    },
  };
}
