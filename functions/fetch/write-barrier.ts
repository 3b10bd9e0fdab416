/** One of several callers that share a request. */
type Participant = {
  /** Waits until all others have counted down, at most `maxMillis` after the first wait. Works once. */
  readonly wait: (maxMillis: number) => Promise<void>;
  /** Makes the others stop waiting for this caller. Has no effect after `wait`. */
  readonly countDown: () => void;
};

/**
 * Holds fast callers until slower ones are ready, so that they share one request. An invocation lasts as long
 * as its slowest call anyway.
 */
export class CountdownLatch {
  #left: number;
  #waiting: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** @param count number of callers */
  constructor(count: number) {
    this.#left = count;
  }

  /** Adds one of the callers. */
  join(): Participant {
    let isCounted = false;
    const countDown = () => {
      if (isCounted) return;
      isCounted = true;
      this.#left -= 1;
      if (this.#left === 0) this.#release();
    };
    return {
      countDown,
      wait: async (maxMillis) => {
        if (isCounted) return;
        await new Promise<void>((resolve) => {
          this.#waiting.push(resolve);
          this.#timer ??= setTimeout(() => this.#release(), Math.max(0, maxMillis));
          countDown();
        });
      },
    };
  }

  #release(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const released = this.#waiting;
    this.#waiting = [];
    for (const resume of released) resume();
  }
}
