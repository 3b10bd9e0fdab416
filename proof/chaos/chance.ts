import { createHash } from "node:crypto";

/**
 * A number from 0 up to 1 that follows from its parts alone: the same seed decides the same, in whatever order it is
 * asked.
 */
export function chance(...parts: readonly (string | number)[]): number {
  return createHash("sha256").update(parts.join("\n")).digest().readUInt32BE(0) / 2 ** 32;
}

/** One of a list, by chance. */
export function oneOf<T>(list: readonly T[], ...parts: readonly (string | number)[]): T | undefined {
  return list[Math.floor(chance(...parts) * list.length)];
}

/** A list in an order of its own for each seed. */
export function shuffled(list: readonly string[], ...parts: readonly (string | number)[]): readonly string[] {
  return list
    .map((each) => ({ each, place: chance(...parts, each) }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ each }) => each);
}
