import { chance, oneOf } from "../chance.ts";
import { type FaultClass, faultClasses, type Mode, type Part } from "./fault-classes.ts";

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
