import type { System } from "@income-events/local-stack/system.ts";
import { waitUntilIdle as waitWithin } from "@income-events/local-stack/wait-until-idle.ts";
import { vi } from "vitest";

/** Far longer than a busy machine needs. */
const limitMs = 120_000;

/**
 * Retries an assertion until it passes, and resolves with its result.
 * @param everyMs interval; longer for checks over a network
 */
export function eventually<T>(assertion: () => T | Promise<T>, everyMs = 20): Promise<T> {
  return vi.waitFor(assertion, { timeout: limitMs, interval: everyMs });
}

/** Per round: more than the redelivery after a kill takes on a busy machine. */
const patienceMs = 480_000;

/** Resolves when no fetch, event or message is in progress. */
export function waitUntilIdle(system: Pick<System, "sandbox" | "stack">): Promise<void> {
  return waitWithin(system, patienceMs);
}
