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
