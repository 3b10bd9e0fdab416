import { setTimeout as wait } from "node:timers/promises";
import type { Reading } from "./protocol.ts";

const betweenReadsMs = 250;

/** Reads on and on, with a pause where there was nothing. @param read answers how much it found */
export function readOn(read: () => Promise<number>): Reading {
  let started = 0;
  let waiters: { readonly after: number; readonly resolve: () => void }[] = [];
  const run = async (): Promise<never> => {
    for (;;) {
      started += 1;
      const turn = started;
      // What can't be read now can be read later; a run that ends without it fails for what is missing.
      const found = await read().catch(() => 1);
      if (found > 0) continue;
      for (const { resolve } of waiters.filter(({ after }) => after < turn)) resolve();
      waiters = waiters.filter(({ after }) => after >= turn);
      await wait(betweenReadsMs);
    }
  };
  void run();
  return {
    caughtUp: () => new Promise((resolve) => waiters.push({ after: started, resolve })),
  };
}
