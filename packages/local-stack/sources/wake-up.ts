/** A sleep that ends early when something happened, also if it happened shortly before. */
export type WakeUp = {
  wake(): void;
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
};

/** For one sleeper. */
export function createWakeUp(): WakeUp {
  let isDue = false;
  let end = (): void => {};
  return {
    wake: () => {
      isDue = true;
      end();
    },
    sleep: async (milliseconds, signal) => {
      if (!isDue && !signal.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>();
        end = resolve;
        const timer = setTimeout(end, milliseconds);
        signal.addEventListener("abort", end, { once: true });
        await promise;
        signal.removeEventListener("abort", end);
        clearTimeout(timer);
      }
      isDue = false;
    },
  };
}
