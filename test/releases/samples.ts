import { isFields } from "../../domain/core/parse.ts";

/** Samples of one sort by name, as JSON. */
export type Samples = Readonly<Record<string, unknown>>;

/**
 * What a release takes away from what the one before wrote, in words: each value must still be there, by its name. Only
 * what has the next version may leave out what that one's readers can do without, which is for its bundles to show.
 */
export function takenAway(before: unknown, now: unknown, path = ""): readonly string[] {
  if (!isFields(before)) return isSame(before, now) ? [] : [`${path} is ${text(now)}, was ${text(before)}`];
  if (!isFields(now)) return [`${path} is missing`];
  const isNext = typeof before.schemaVersion === "number" && now.schemaVersion === before.schemaVersion + 1;
  if (isNext) return [];
  return Object.entries(before).flatMap(([name, value]) => takenAway(value, now[name], `${path}/${name}`));
}

function isSame(left: unknown, right: unknown): boolean {
  if (!Array.isArray(left)) return left === right;
  if (!Array.isArray(right) || left.length !== right.length) return false;
  return left.every((each, index) => takenAway(each, right[index]).length === 0);
}

function text(value: unknown): string {
  return value === undefined ? "missing" : JSON.stringify(value);
}
