import { chance, oneOf } from "../chance.ts";
import type { Interference } from "../observed-call.ts";
import { type FaultClass, faultClasses, type Mode, type Part } from "./fault-classes.ts";
import { modesOf, playFault } from "./play-fault.ts";

/**
 * Fails a share of the calls of functions and pollers, drawn by the seed for the n-th call of each name. Each
 * class is also owed once: a share of one percent would leave most classes out of a short run.
 */
export class Faults {
  readonly #seed: number;
  readonly #counts = new Map<FaultClass, number>(faultClasses.map((name) => [name, 0]));
  #share = 0;
  /** Calls by name since the share was set. */
  #ordinals = new Map<string, number>();
  /** Calls that each class could have failed since then. */
  #met = new Map<FaultClass, number>();
  #pending = new Set<FaultClass>();

  constructor(seed: number) {
    this.#seed = seed;
  }

  /**
   * Sets the share of calls that fail from now on; 0: none.
   * @param pending classes to fire at least once; absent: all
   */
  let(share: number, pending: readonly FaultClass[] = faultClasses): void {
    this.#share = share;
    this.#ordinals = new Map();
    this.#met = new Map();
    this.#pending = new Set(share === 0 ? [] : pending);
  }

  /** Classes that have not fired since the share was set. */
  pendingFaults(): readonly FaultClass[] {
    return [...this.#pending];
  }

  /** Total number of faults by class, including zero. */
  counts(): ReadonlyMap<FaultClass, number> {
    return this.#counts;
  }

  /** Classes that never fired. */
  unfired(): readonly FaultClass[] {
    return faultClasses.filter((name) => this.#counts.get(name) === 0);
  }

  readonly interference: Interference = async (call, phase) => {
    if (phase === "after" || this.#share === 0 || call.part === undefined) return undefined;
    const mode = this.#next(call.part, `${call.function} ${call.name}`, modesOf(call));
    if (mode === undefined) return undefined;
    const name: FaultClass = `${call.part} ${mode}`;
    this.#pending.delete(name);
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    return playFault(call, call.part, mode);
  };

  /** Mode of the next call of a name. */
  #next(part: Part, name: string, possible: readonly Mode[]): Mode | undefined {
    const [seed, share] = [this.#seed, this.#share];
    const ordinal = (this.#ordinals.get(name) ?? 0) + 1;
    this.#ordinals.set(name, ordinal);
    const [due] = possible.filter((mode) => this.#isDue(part, mode));
    if (due !== undefined || chance(seed, share, name, ordinal) >= share) return due;
    return oneOf(possible, seed, share, name, ordinal, "mode");
  }

  #isDue(part: Part, mode: Mode): boolean {
    const name: FaultClass = `${part} ${mode}`;
    const possible = (this.#met.get(name) ?? 0) + 1;
    this.#met.set(name, possible);
    // Classes mix, but streams are read rarely, and not at all while a batch is retried.
    const patience = part === "stream" ? 0 : 6;
    return this.#pending.has(name) && possible > chance(this.#seed, this.#share, name, "owed") * patience;
  }
}
