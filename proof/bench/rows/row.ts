import type { Estimate } from "../measure/statistics.ts";

/** How many times theirs it may be at most, or is to be at least, or exactly. */
type Limit = { readonly atMost: number } | { readonly atLeast: number } | { readonly exactly: number };

/** What ours is held against; `goal` where that is a number of its own. */
export type Goal = { readonly over: string } & Limit;

/** One figure against one goal. `ratio` is ours over theirs. */
export type Comparison = {
  readonly over: string;
  /** As the table shows it: `≤ 0.5`. */
  readonly goal: string;
  readonly theirs: number;
  /** Raw figures, one for each round in which theirs was measured. */
  readonly samples: readonly number[];
  readonly ratio: Estimate;
  readonly isMet: boolean;
};

/** One row of the table of results. */
export type Row = {
  readonly name: string;
  readonly figure: string;
  readonly ours: number;
  /** Raw figures, one for each round. */
  readonly samples: readonly number[];
  readonly comparisons: readonly Comparison[];
  /** What the figure is made of, for each implementation. */
  readonly lines?: readonly { readonly name: string; readonly bySide: Readonly<Record<string, number>> }[];
};

/** A row whose figures were measured in pairs, round by round, or once where they are counts that don't vary. */
export function pairedRow(
  { name, figure }: Pick<Row, "name" | "figure">,
  ours: readonly number[],
  theirs: readonly (Goal & { readonly values: readonly number[] })[],
  estimate: (values: readonly number[]) => Estimate,
): Row {
  return {
    name,
    figure,
    ours: estimate(ours).median,
    samples: ours,
    comparisons: theirs.map(({ values, ...goal }) => {
      const ratio = estimate(ours.map((value, round) => value / (values[round] ?? Number.NaN)));
      return comparison(goal, estimate(values).median, values, ratio);
    }),
  };
}

/** A row whose goal is a number of its own, not a ratio to a peer. */
export function absoluteRow(
  { name, figure }: Pick<Row, "name" | "figure">,
  samples: readonly number[],
  limit: Limit,
  estimate: (values: readonly number[]) => Estimate,
): Row {
  const ratio = estimate(samples);
  const goal = { over: "goal", ...limit };
  return { name, figure, ours: ratio.median, samples, comparisons: [comparison(goal, 1, [], ratio)] };
}

function comparison(goal: Goal, theirs: number, samples: readonly number[], ratio: Estimate): Comparison {
  const text = goalOf(goal);
  return { over: goal.over, goal: text, theirs, samples, ratio, isMet: isMetBy(ratio.median, text) };
}

function goalOf(limit: Limit): string {
  if ("atMost" in limit) return `≤ ${limit.atMost}`;
  return "atLeast" in limit ? `≥ ${limit.atLeast}` : `= ${limit.exactly}`;
}

/** @param goal as the table shows it: `≤ 0.5` */
export function isMetBy(value: number, goal: string): boolean {
  const limit = Number(goal.slice(2));
  if (goal.startsWith("≤")) return value <= limit;
  return goal.startsWith("≥") ? value >= limit : value === limit;
}
