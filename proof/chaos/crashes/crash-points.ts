import { setTimeout as wait } from "node:timers/promises";
import { applyFirst } from "@income-events/local-stack/gateway/tables/statement-faults.ts";
import { batchAction, batchEntries } from "@income-events/local-stack/gateway/tables/statements.ts";
import { chance, oneOf, shuffled } from "../chance.ts";
import type { Interference, ObservedCall } from "../observed-call.ts";

/**
 * When a function's process is killed around one of its calls: before the request leaves, so that nothing happens;
 * as soon as it left, so that it is applied for nobody; or once it was applied and the rest of the process went on,
 * right before the answer returns. Of a batch of statements also between two of them: the first half is applied.
 */
const phases = ["unsent", "applied", "unanswered"] as const;
const phasesOfStatements = [...phases, "between"] as const;
type Phase = (typeof phasesOfStatements)[number];

/** @param name function and call */
function phasesOf(name: string): readonly Phase[] {
  return name.split(" ").includes(batchAction) ? phasesOfStatements : phases;
}

/** A point at which a function can die: `<function> <call> <phase>`. */
export type CrashPoint = string;

export type Victims = {
  /** Kills (SIGKILL) the processes of a function that work; answers how many. */
  kill(logicalId: string): number;
  /** How many invocations of it succeeded so far. */
  succeeded(logicalId: string): number;
};

export type Crashes = {
  /**
   * Kills at calls, and lets the other interference decide of all other calls: a fault must not take the answer of
   * which a function is to die.
   */
  around(others: Interference): Interference;
  /** Every point of the calls that were seen until now. @param atLeast so often */
  seen(atLeast?: number): readonly CrashPoint[];
  /** Lets functions die at these points, each once, and none more than twice before it has succeeded once. */
  crashAt(points: readonly CrashPoint[]): void;
  /** Points that are still to be struck, those whose call is under way included. */
  left(): readonly CrashPoint[];
  /** Lets a share of all calls be the caller's last, as the seed says; 0: none. */
  crashAtRandom(share: number): void;
  /** Processes killed so far. */
  kills(): number;
};

/** How long the rest of a process goes on while the answer that it waits for is withheld. */
const withheldMs = 40;

/**
 * Some calls are made once in a process's lifetime: a function that died must be able to die at its first call, too.
 */
const maxCrashesInRow = 2;

/** Kills functions at their calls. */
export function crashFunctions(seed: number, victims: Victims): Crashes {
  /** How often each call was made, by name. */
  const ordinals = new Map<string, number>();
  const left = new Set<CrashPoint>();
  /** By function: how often it had succeeded when it died last, and how often it has died since. */
  const crashCounts = new Map<string, { readonly successes: number; readonly inRow: number }>();
  /** They die when the answer is there. */
  const dying = new Set<ObservedCall>();
  const crashing = new Map<ObservedCall, CrashPoint>();
  let share = 0;
  let kills = 0;

  const crashesInRow = (name: string): number => {
    const last = crashCounts.get(name);
    return last !== undefined && victims.succeeded(name) <= last.successes ? last.inRow : 0;
  };
  const crashNow = (call: ObservedCall, name: string): Phase | undefined => {
    if (crashesInRow(call.function) >= maxCrashesInRow) return undefined;
    const phase = phasesOf(name).find((each) => left.has(`${name} ${each}`));
    if (phase === undefined) return undefined;
    left.delete(`${name} ${phase}`);
    crashing.set(call, `${name} ${phase}`);
    return phase;
  };
  const kill = (call: ObservedCall): void => {
    const inRow = crashesInRow(call.function) + 1;
    const killed = victims.kill(call.function);
    const point = crashing.get(call);
    crashing.delete(call);
    // The call of a process that is dead already: there was nobody to strike.
    if (killed === 0 && point !== undefined) left.add(point);
    if (killed === 0) return;
    kills += killed;
    crashCounts.set(call.function, { successes: victims.succeeded(call.function), inRow });
  };
  const choose = (call: ObservedCall): Phase | undefined => {
    const name = `${call.function} ${call.name}`;
    const ordinal = (ordinals.get(name) ?? 0) + 1;
    ordinals.set(name, ordinal);
    if (chance(seed, "kill", name, ordinal) < share)
      return oneOf(phasesOf(name), seed, "phase", name, ordinal);
    return crashNow(call, name);
  };

  return {
    around: (others) => async (call, when) => {
      if (when === "after") {
        if (!dying.delete(call)) return others(call, when);
        await wait(withheldMs);
        kill(call);
        return "drop";
      }
      const phase = call.isFromFunction ? choose(call) : undefined;
      if (phase === undefined) return others(call, when);
      if (phase === "unanswered" || phase === "between") dying.add(call);
      else kill(call);
      if (phase === "between") return applyFirst(call.body, Math.floor(batchEntries(call.body).length / 2));
      return phase === "unsent" ? "drop" : undefined;
    },
    seen: (atLeast = 1) =>
      [...ordinals].flatMap(([name, calls]) =>
        calls < atLeast ? [] : phasesOf(name).map((phase) => `${name} ${phase}`),
      ),
    crashAt: (points) => {
      for (const point of points) left.add(point);
    },
    left: () => [...left, ...crashing.values()],
    crashAtRandom: (wanted) => {
      share = wanted;
    },
    kills: () => kills,
  };
}

/** How many points the short form strikes. */
const sample = 6;

/** So many seeds in a row strike every point: all of them in one run would take it beyond three minutes. */
export const seedsForAll = 8;

/** The points to strike: the seed's share of all, in the short form some that the seed chooses. */
export function choosePoints(
  seen: readonly CrashPoint[],
  { seed, isShort }: { readonly seed: number; readonly isShort: boolean },
): readonly CrashPoint[] {
  const order = shuffled(seen, seed, "points");
  if (isShort) return order.slice(0, sample);
  return order.filter((point) => Math.floor(chance("share", point) * seedsForAll) === seed % seedsForAll);
}
