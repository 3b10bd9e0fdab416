import { chance, oneOf } from "../chance.ts";
import type { Interference } from "../observed-call.ts";
import { type FaultClass, faultClasses, type Mode, type Part } from "./fault-classes.ts";
import { modesOf, playFault } from "./play-fault.ts";

/** Which calls fail, and how: it follows from the seed alone. */
export type FaultSchedule = {
  /**
   * @param name of the function and its call @param possible the modes that the call can meet
   * @returns the mode that this call, the next one of its name, meets
   */
  next(part: Part, name: string, possible: readonly Mode[]): Mode | undefined;
  /** Classes that have not fired yet. */
  pendingFaults(): readonly FaultClass[];
};

/**
 * A share of the calls fails, drawn for the n-th call of each name. Beyond that each class is owed once: a share of
 * one in a hundred would leave most classes out of a short run.
 * @param pendingFaults the classes that are owed; the others come by chance alone
 */
export function scheduleFaults(seed: number, share: number, pendingFaults = faultClasses): FaultSchedule {
  const calls = new Map<string, number>();
  const met = new Map<FaultClass, number>();
  const pending = new Set(pendingFaults);
  const next: FaultSchedule["next"] = (part, name, possible) => {
    const ordinal = (calls.get(name) ?? 0) + 1;
    calls.set(name, ordinal);
    const due = possible.filter((mode) => isDue(part, mode));
    const mode = due[0] ?? drawn({ seed, share }, name, ordinal, possible);
    if (mode !== undefined) pending.delete(`${part} ${mode}`);
    return mode;
  };
  const isDue = (part: Part, mode: Mode): boolean => {
    const name: FaultClass = `${part} ${mode}`;
    const possible = (met.get(name) ?? 0) + 1;
    met.set(name, possible);
    return pending.has(name) && possible > chance(seed, share, name, "owed") * patienceOf(part);
  };
  return { next, pendingFaults: () => [...pending] };
}

/**
 * A class comes after fewer than so many calls that could have met it, and not with the first, so that classes come
 * mixed. But a stream is read seldom: not at all while a batch of it is tried again.
 */
function patienceOf(part: Part): number {
  return part === "stream" ? 0 : 6;
}

/** The mode of the n-th call of a name, if it is one of the share. */
export function drawn(
  { seed, share }: { readonly seed: number; readonly share: number },
  name: string,
  ordinal: number,
  possible: readonly Mode[],
): Mode | undefined {
  if (chance(seed, share, name, ordinal) >= share) return undefined;
  return oneOf(possible, seed, share, name, ordinal, "mode");
}

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
