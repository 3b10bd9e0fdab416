import { settle as settleWithin } from "../../local/settle.ts";
import type { System } from "../../local/system.ts";

/** For each round: beyond what comes back after its function was killed, on a machine that is busy with others. */
const patienceMs = 480_000;

/** Resolves when nothing is on its way any more. */
export function settle(system: Pick<System, "sandbox" | "stack">): Promise<void> {
  return settleWithin(system, patienceMs);
}
