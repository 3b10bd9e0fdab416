/** Counts what is under way, and says when nothing is. */
export type UnderWay = {
  begin(): void;
  end(): void;
  /** Resolves when nothing is under way. */
  none(): Promise<void>;
};

export function countUnderWay(): UnderWay {
  const waiters: (() => void)[] = [];
  let count = 0;
  return {
    begin: () => {
      count += 1;
    },
    end: () => {
      count -= 1;
      if (count === 0) for (const resolve of waiters.splice(0)) resolve();
    },
    none: () => (count === 0 ? Promise.resolve() : new Promise((resolve) => waiters.push(resolve))),
  };
}
