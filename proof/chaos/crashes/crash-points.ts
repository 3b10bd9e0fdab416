import { setTimeout as wait } from "node:timers/promises";
import { applyFirst } from "@income-events/local-stack/gateway/tables/statement-faults.ts";
import { batchAction, batchEntries } from "@income-events/local-stack/gateway/tables/statements.ts";
import { chance, oneOf, shuffled } from "../chance.ts";
import type { Interference, ObservedCall } from "../observed-call.ts";
import type { RunOptions } from "../options.ts";

/**
 * When a process is killed around one of its calls: `unsent`, before the request is sent, so nothing happens;
 * `applied`, once it is sent, so that it takes effect without a caller; `unanswered`, after it was applied
 * and the rest of the process went on, just before the answer. A batch of statements may also be half
 * applied.
 */
const phases = ["unsent", "applied", "unanswered"] as const;
const phasesOfStatements = [...phases, "between"] as const;
type Phase = (typeof phasesOfStatements)[number];

/** @param name function and call */
function phasesOf(name: string): readonly Phase[] {
  return name.split(" ").includes(batchAction) ? phasesOfStatements : phases;
}

/** A point at which a function can crash: `<function> <call> <phase>`. */
export type CrashPoint = string;

export type Victims = {
  /** Kills (SIGKILL) a function's busy processes; returns how many. */
  kill(logicalId: string): number;
  /** Number of a function's successful invocations so far. */
  succeeded(logicalId: string): number;
};

export type Crashes = ReturnType<typeof crashFunctions>;

/** Milliseconds for which the rest of a process goes on while the answer is withheld. */
const withheldMs = 40;

/**
 * Some calls happen once per process, so a function that crashed must be able to crash at its first call too.
 */
const maxCrashesInRow = 2;

/** Kills functions at their calls. */
export function crashFunctions(seed: number, victims: Victims) {
  const ordinals = new Map<string, number>();
  const left = new Set<CrashPoint>();
  /** By function: successes at its last crash, and crashes since then. */
  const crashCounts = new Map<string, { readonly successes: number; readonly inRow: number }>();
  /** Calls whose process is killed when the answer arrives. */
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
    // The process was already dead.
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
    /**
     * Kills at calls, and delegates all others: a fault must not take the answer at which a function is to
     * crash.
     */
    around:
      (others: Interference): Interference =>
      async (call, when) => {
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
    /**
     * Crash points of the calls seen so far.
     * @param atLeast minimum number of calls
     */
    seen: (atLeast = 1): readonly CrashPoint[] =>
      [...ordinals].flatMap(([name, calls]) =>
        calls < atLeast ? [] : phasesOf(name).map((phase) => `${name} ${phase}`),
      ),
    /** Crashes functions at these points, once each, and at most twice before a function has succeeded again. */
    crashAt: (points: readonly CrashPoint[]): void => {
      for (const point of points) left.add(point);
    },
    /** Points not hit yet, including those whose call is in progress. */
    left: (): readonly CrashPoint[] => [...left, ...crashing.values()],
    /** Crashes at a random share of all calls, by seed; 0: none. */
    crashAtRandom: (wanted: number): void => {
      share = wanted;
    },
    kills: () => kills,
  };
}

/** Number of points in the short form. */
const sample = 6;

/** Number of consecutive seeds that cover every point: all in one run would take more than three minutes. */
const seedsForAll = 8;

/** Points to hit: the seed's share of all, or in the short form a sample chosen by the seed. */
export function choosePoints(
  seen: readonly CrashPoint[],
  { seed, short }: Pick<RunOptions, "seed" | "short">,
): readonly CrashPoint[] {
  const order = shuffled(seen, seed, "points");
  if (short) return order.slice(0, sample);
  return order.filter((point) => Math.floor(chance("share", point) * seedsForAll) === seed % seedsForAll);
}
