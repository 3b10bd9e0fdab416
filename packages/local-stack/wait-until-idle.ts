import type { System } from "./system.ts";

/**
 * Resolves when nothing is on its way any more. Fetches lead to events and events to fetches: it is over when a
 * whole round brings nothing new.
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
