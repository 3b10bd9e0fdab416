import { setTimeout as wait } from "node:timers/promises";

/** A sleep that ends early when something happened, also if it happened shortly before. */
export type WakeUp = {
  wake(): void;
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
};

/** For one sleeper. */
export function createWakeUp(): WakeUp {
  let isDue = false;
  let waking = new AbortController();
  return {
    wake: () => {
      isDue = true;
      waking.abort();
    },
    sleep: async (milliseconds, signal) => {
      if (!isDue && !signal.aborted) {
        waking = new AbortController();
        const either = AbortSignal.any([signal, waking.signal]);
        await wait(milliseconds, undefined, { signal: either }).catch((error: unknown) => {
          if (!either.aborted) throw error;
        });
      }
      isDue = false;
    },
  };
}
