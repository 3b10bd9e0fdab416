import type { Estimate } from "../measure/statistics.ts";

/** What ours is held against, and how many times theirs it may be at most, or is to be at least. */
export type Goal = { readonly over: string } & ({ readonly atMost: number } | { readonly atLeast: number });

/** One figure against one goal. `ratio` is ours over theirs. */
export type Comparison = {
  readonly over: string;
  /** As the table shows it: `≤ 0.5`. */
  readonly goal: string;
  readonly theirs: number;
  readonly ratio: Estimate;
  readonly isMet: boolean;
};

/** One row of the table of results. */
export type Row = {
  readonly name: string;
  readonly figure: string;
  readonly ours: number;
  readonly comparisons: readonly Comparison[];
};

/** A row whose figures were measured in pairs, round by round, or once where they are counts that don't vary. */
export function pairedRow(
  name: string,
  figure: string,
  ours: readonly number[],
  theirs: readonly (Goal & { readonly values: readonly number[] })[],
  estimate: (values: readonly number[]) => Estimate,
): Row {
  return {
    name,
    figure,
    ours: estimate(ours).median,
    comparisons: theirs.map(({ values, ...goal }) => {
      const ratio = estimate(ours.map((value, round) => value / (values[round] ?? Number.NaN)));
      return comparison(goal, estimate(values).median, ratio);
    }),
  };
}

/** A row whose goal is a number of its own, not a ratio to a peer. */
export function absoluteRow(name: string, figure: string, ours: number, atMost: number): Row {
  const ratio = { median: ours, low: ours, high: ours };
  return { name, figure, ours, comparisons: [comparison({ over: "goal", atMost }, 1, ratio)] };
}

function comparison(goal: Goal, theirs: number, ratio: Estimate): Comparison {
  const { over } = goal;
  return "atMost" in goal
    ? { over, goal: `≤ ${goal.atMost}`, theirs, ratio, isMet: ratio.median <= goal.atMost }
    : { over, goal: `≥ ${goal.atLeast}`, theirs, ratio, isMet: ratio.median >= goal.atLeast };
}
