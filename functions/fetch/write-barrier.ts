/** One of several callers that share a request. */
type Seat = {
  /** Waits until all others arrive or leave, at most `holdInMillis` after the first arrival. Works once. */
  readonly arrive: (holdInMillis: number) => Promise<void>;
  /** Makes the others stop waiting for this caller. Has no effect after `arrive`. */
  readonly leave: () => void;
};

/**
 * Holds fast callers until slower ones are ready, so that they share one request. An invocation lasts as long
 * as its slowest call anyway.
 * @param count number of callers; each takes its own seat
 */
export function writeBarrier(count: number): () => Seat {
  let expected = count;
  let waiting: (() => void)[] = [];
  let timer: NodeJS.Timeout | undefined;
  const release = () => {
    clearTimeout(timer);
    timer = undefined;
    const held = waiting;
    waiting = [];
    for (const go of held) go();
  };
  return () => {
    let isExpected = true;
    const leave = () => {
      if (!isExpected) return;
      isExpected = false;
      expected -= 1;
      if (expected === 0) release();
    };
    return {
      leave,
      arrive: (holdInMillis) =>
        new Promise((resolve) => {
          if (!isExpected) {
            resolve();
            return;
          }
          waiting.push(resolve);
          timer ??= setTimeout(release, Math.max(0, holdInMillis));
          leave();
        }),
    };
  };
}
