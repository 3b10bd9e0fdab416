import { chance, oneOf } from "../chance.ts";
import type { Interference } from "../observed-call.ts";
import { type FaultClass, faultClasses, type Mode, type Part } from "./fault-classes.ts";
import { modesOf, playFault } from "./play-fault.ts";

/** Chooses the calls that fail and how, from the seed alone. */
type FaultSchedule = {
  /**
   * @param name of the function and its call
   * @param possible modes that the call supports
   * @returns the mode of this call, the next one of its name
   */
  next(part: Part, name: string, possible: readonly Mode[]): Mode | undefined;
  /** Classes that have not fired yet. */
  pendingFaults(): readonly FaultClass[];
};

/**
 * A share of the calls fails, drawn for the n-th call of each name. Each class is also owed once: a share of
 * one percent would leave most classes out of a short run.
 * @param pendingFaults classes that are owed; the others come by chance alone
 */
function scheduleFaults(seed: number, share: number, pendingFaults = faultClasses): FaultSchedule {
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
 * Maximum eligible calls before an owed class fires, so that classes mix. Streams are read
 * rarely, and not at all while a batch is retried.
 */
function patienceOf(part: Part): number {
  return part === "stream" ? 0 : 6;
}

/** Mode of the n-th call of a name, if it is one of the share. */
function drawn(
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
  /**
   * Sets the share of calls that fail from now on; 0: none.
   * @param pending classes to fire at least once; absent: all
   */
  let(share: number, pending?: readonly FaultClass[]): void;
  /** Classes that have not fired since the share was set. */
  pendingFaults(): readonly FaultClass[];
  /** Total number of faults by class, including zero. */
  counts(): ReadonlyMap<FaultClass, number>;
  /** Classes that never fired. */
  unfired(): readonly FaultClass[];
};

/** Fails calls of functions and pollers, by seed. */
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
