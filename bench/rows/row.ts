import type { Estimate } from "../measure/statistics.ts";

/** What ours is held against, and how many times theirs it may be. */
export type Goal = { readonly over: string; readonly atMost: number };

/** One figure against one goal. `ratio` is ours over theirs; below one is less. */
export type Comparison = Goal & {
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
    comparisons: theirs.map(({ over, atMost, values }) => {
      const ratio = estimate(ours.map((value, round) => value / (values[round] ?? Number.NaN)));
      return { over, atMost, theirs: estimate(values).median, ratio, isMet: ratio.median <= atMost };
    }),
  };
}

/** A row whose goal is a number of its own, not a ratio to a peer. */
export function absoluteRow(name: string, figure: string, ours: number, atMost: number): Row {
  const ratio = { median: ours, low: ours, high: ours };
  const comparison = { over: "goal", atMost, theirs: 1, ratio, isMet: ours <= atMost };
  return { name, figure, ours, comparisons: [comparison] };
}
