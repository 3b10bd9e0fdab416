import { setTimeout as wait } from "node:timers/promises";

/** Waits; ends early without an error when the signal aborts. Tests pass one that does not wait. */
export type Delay = (milliseconds: number, signal: AbortSignal) => Promise<void>;

export const realDelay: Delay = async (milliseconds, signal) => {
  await wait(milliseconds, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
};
