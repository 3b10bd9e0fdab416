import type { Snapshot } from "./snapshot.ts";

/** A side's name with what it has in the end. */
export type Outcome = { readonly title: string; readonly snapshot: Snapshot };

/**
 * How outcomes differ from what was expected, a line for each list that does. Where anybody has another result, what it
 * spent for it says nothing.
 */
export function differences(expected: Snapshot, outcomes: readonly Outcome[]): readonly string[] {
  return outcomes.flatMap(({ title, snapshot }) =>
    (["events", "states", "data", "messages"] as const).flatMap((name) => {
      const [wanted, found] = [new Set(expected[name]), new Set(snapshot[name])];
      const missing = wanted.difference(found);
      const extra = found.difference(wanted);
      if (missing.size + extra.size === 0) return [];
      const example = [...missing, ...extra][0] ?? "";
      return [
        `${title}: of ${wanted.size} ${name} ${missing.size} missing, ${extra.size} too many, such as ${example}`,
      ];
    }),
  );
}

/** @throws with every difference */
export function requireSame(expected: Snapshot, outcomes: readonly Outcome[]): void {
  const found = differences(expected, outcomes);
  if (found.length > 0)
    throw new Error(`The sides don't end with the same; no ratio counts:\n${found.join("\n")}`);
}
