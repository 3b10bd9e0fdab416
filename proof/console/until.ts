import { setTimeout as pause } from "node:timers/promises";

const patienceMs = 60_000;

/** Looks again and again. @returns what is there at last @throws the complaint where that takes longer than a minute */
export async function until<T>(look: () => Promise<T | undefined>, complaint: string): Promise<T> {
  for (const started = performance.now(); performance.now() - started < patienceMs; await pause(100)) {
    const found = await look();
    if (found !== undefined) return found;
  }
  throw new Error(complaint);
}
