/** One of several who write, or send, together. */
type Seat = {
  /** Waits until all others are here too, or gone; at most so many milliseconds after the first who waits came. Once. */
  readonly arrive: (holdInMillis: number) => Promise<void>;
  /** Will not come, or was here. */
  readonly leave: () => void;
};

/**
 * Holds those whose calls were quick until the others' are over, so that they share one request. An invocation lasts
 * as long as its slowest call anyway.
 * @param count how many there are; each takes a seat of its own
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
          // Who comes again comes later than the others.
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
