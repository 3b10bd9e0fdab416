import { chance, shuffled } from "../chance.ts";
import type { CrashPoint } from "./crash-points.ts";

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
