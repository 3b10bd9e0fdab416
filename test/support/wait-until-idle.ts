import type { System } from "@income-events/local-stack/system.ts";
import { waitUntilIdle as waitWithin } from "@income-events/local-stack/wait-until-idle.ts";

/** For each round: beyond what comes back after its function was killed, on a machine that is busy with others. */
const patienceMs = 480_000;

/** Resolves when nothing is on its way any more. */
export function waitUntilIdle(system: Pick<System, "sandbox" | "stack">): Promise<void> {
  return waitWithin(system, patienceMs);
}
