import type { System } from "@income-events/local-stack/system.ts";
import { waitUntilIdle as waitWithin } from "@income-events/local-stack/wait-until-idle.ts";
import { vi } from "vitest";

/** Far beyond what a busy machine takes: an assertion that never holds ends here. */
const limitMs = 120_000;

/**
 * Resolves once an assertion holds, with what it returns.
 * @param everyMs between its tries; what is looked at over a network is looked at less often
 */
export function eventually<T>(assertion: () => T | Promise<T>, everyMs = 20): Promise<T> {
  return vi.waitFor(assertion, { timeout: limitMs, interval: everyMs });
}

/** For each round: beyond what comes back after its function was killed, on a machine that is busy with others. */
const patienceMs = 480_000;

/** Resolves when no fetch, event or message is in progress. */
export function waitUntilIdle(system: Pick<System, "sandbox" | "stack">): Promise<void> {
  return waitWithin(system, patienceMs);
}
