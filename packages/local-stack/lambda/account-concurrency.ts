export type AccountConcurrency = ReturnType<typeof createAccountConcurrency>;

/** Default quota of an account; new accounts may have 10. Source: Lambda developer guide, "Lambda quotas". */
const defaultConcurrency = 1000;

/**
 * Unreserved concurrency of an account.
 * @param reserved concurrency that functions reserve, unavailable to others even while unused
 */
export function createAccountConcurrency(
  reserved: readonly number[],
  concurrency: number = defaultConcurrency,
) {
  let left = reserved.reduce((rest, each) => rest - each, concurrency);
  return {
    /** Takes one execution; returns false if none is left, and the invocation is throttled. */
    take: (): boolean => {
      if (left <= 0) return false;
      left -= 1;
      return true;
    },
    release: (): void => {
      left += 1;
    },
    /** Occupies executions for other functions of the account; returns a function that releases them. */
    occupy: (count: number): (() => void) => {
      left -= count;
      let isHeld = true;
      return () => {
        if (isHeld) left += count;
        isHeld = false;
      };
    },
  };
}
