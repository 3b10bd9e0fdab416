import type { Interference } from "../observed-call.ts";
import { type FaultClass, faultClasses } from "./fault-classes.ts";
import { type FaultSchedule, scheduleFaults } from "./fault-schedule.ts";
import { modesOf, playFault } from "./play-fault.ts";

export type Faults = {
  readonly interference: Interference;
  /** Lets a share of the calls fail from now on; 0: none. @param pending the classes to fire once in any case; absent: all */
  let(share: number, pending?: readonly FaultClass[]): void;
  /** Classes that have not fired yet since the share was set. */
  pendingFaults(): readonly FaultClass[];
  /** How often each class fired in all, those that never did included. */
  counts(): ReadonlyMap<FaultClass, number>;
  /** Classes that never fired. */
  unfired(): readonly FaultClass[];
};

/** Lets calls of functions and pollers fail, as the seed says. */
export function injectFaults(seed: number): Faults {
  const counts = new Map(faultClasses.map((name) => [name, 0]));
  let schedule: FaultSchedule | undefined;
  return {
    interference: async (call, phase) => {
      if (phase === "after" || schedule === undefined || call.part === undefined) return undefined;
      const mode = schedule.next(call.part, `${call.function} ${call.name}`, modesOf(call));
      if (mode === undefined) return undefined;
      const name: FaultClass = `${call.part} ${mode}`;
      counts.set(name, (counts.get(name) ?? 0) + 1);
      return playFault(call, call.part, mode);
    },
    let: (share, pending) => {
      schedule = share === 0 ? undefined : scheduleFaults(seed, share, pending);
    },
    pendingFaults: () => schedule?.pendingFaults() ?? [],
    counts: () => counts,
    unfired: () => faultClasses.filter((name) => counts.get(name) === 0),
  };
}
