/** The executions that functions of an account may have at once, without those that are reserved for single functions. */
export type AccountConcurrency = {
  /** Takes one execution; false: all are taken, and the invocation is throttled. */
  take(): boolean;
  release(): void;
  /** Lets other functions of the account hold so many executions; the result ends that. */
  occupy(count: number): () => void;
};

/** What an account has by default; a new one may have 10. Source: Lambda developer guide, "Lambda quotas". */
const defaultConcurrency = 1000;

/** @param reserved what functions have reserved: nobody else gets it, whether they use it or not */
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
