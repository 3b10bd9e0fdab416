import type { System } from "./system.ts";

/**
 * Resolves when nothing is in progress. Fetches cause events and events cause fetches, so it ends after a
 * full round without new work.
 * @param patience milliseconds for each round
 */
export async function waitUntilIdle(
  { sandbox, stack }: Pick<System, "sandbox" | "stack">,
  patience: number,
): Promise<void> {
  for (;;) {
    const before = sandbox.deliveries().length;
    await sandbox.waitUntilIdle();
    await stack.drained({ deadline: patience });
    if (sandbox.deliveries().length === before) return;
  }
}
