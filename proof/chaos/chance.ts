import { createHash } from "node:crypto";

/**
 * A number from 0 up to 1 determined by its parts: the same seed yields the same number in any order of
 * calls.
 */
export function chance(...parts: readonly (string | number)[]): number {
  return createHash("sha256").update(parts.join("\n")).digest().readUInt32BE(0) / 2 ** 32;
}

/** Picks a random item of a list. */
export function oneOf<T>(list: readonly T[], ...parts: readonly (string | number)[]): T | undefined {
  return list[Math.floor(chance(...parts) * list.length)];
}

export function shuffled(list: readonly string[], ...parts: readonly (string | number)[]): readonly string[] {
  return list
    .map((each) => ({ each, place: chance(...parts, each) }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ each }) => each);
}
