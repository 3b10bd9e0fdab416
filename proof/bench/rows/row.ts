/** Comparison with a peer, as a maximum or minimum ratio; without `over`, an absolute number. */
export type Goal = { readonly over?: string } & (
  | { readonly atMost: number }
  | { readonly atLeast: number }
  | { readonly exactly: number }
);

/** A row's figure with one goal. */
export type Comparison = {
  readonly over: string | undefined;
  /** Goal as the table shows it: `≤ 0.5`. */
  readonly goal: string;
  readonly theirs: number | undefined;
  /** Median of our figure over the peer's, by round; without a peer, our figure. */
  readonly ratio: number;
  readonly isMet: boolean;
};

export type Row = {
  readonly name: string;
  readonly figure: string;
  /** Median. */
  readonly ours: number;
  readonly rounds: number;
  readonly comparisons: readonly Comparison[];
};

/** Creates a row from figures measured in pairs by round, or once if they are counts. */
export function rowOf(
  name: string,
  figure: string,
  ours: readonly number[],
  goals: readonly (Goal & { readonly values?: readonly number[] })[],
): Row {
  const comparisons = goals.map(({ over, values, ...goal }): Comparison => {
    const ratios =
      values === undefined ? ours : ours.map((each, round) => each / (values[round] ?? Number.NaN));
    const [text, ratio] = [goalText(goal), median(ratios)];
    const theirs = values && median(values);
    return { over, goal: text, theirs, ratio, isMet: isMetBy(ratio, text) };
  });
  return { name, figure, ours: median(ours), rounds: ours.length, comparisons };
}

function goalText(goal: Goal): string {
  if ("atMost" in goal) return `≤ ${goal.atMost}`;
  return "atLeast" in goal ? `≥ ${goal.atLeast}` : `= ${goal.exactly}`;
}

function isMetBy(value: number, goal: string): boolean {
  const limit = Number(goal.slice(2));
  if (goal.startsWith("≤")) return value <= limit;
  return goal.startsWith("≥") ? value >= limit : value === limit;
}

/** `name/peer ours-over-theirs goal ok|short` for each goal; without the peer for absolute goals. */
export function linesOf({ name, comparisons }: Row): readonly string[] {
  return comparisons.map((each) => {
    const title = each.over === undefined ? name : `${name}/${each.over}`;
    return `${title} ${shownRatio(each)} ${each.goal.replace(" ", "")} ${each.isMet ? "ok" : "short"}`;
  });
}

/** Formats a ratio with two digits, or as many as show on which side of the goal it is. */
export function shownRatio({ ratio, goal, isMet }: Pick<Comparison, "ratio" | "goal" | "isMet">): string {
  const digits = [2, 3, 4].find((count) => isMetBy(Number(ratio.toFixed(count)), goal) === isMet);
  return ratio.toFixed(digits ?? 6);
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Interpolates between the two nearest values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  const place = (sorted.length - 1) * share;
  const [below = Number.NaN, above = Number.NaN] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  return below + (above - below) * (place - Math.floor(place));
}

/** Exponent of the power law that fits the points best, by least squares of their logarithms; 1 is linear. */
export function exponentOf(points: readonly (readonly [number, number])[]): number {
  const logs = points.map(([x, y]) => [Math.log(x), Math.log(y)] as const);
  const mean = (values: readonly number[]) => values.reduce((sum, each) => sum + each, 0) / values.length;
  const [meanX, meanY] = [mean(logs.map(([x]) => x)), mean(logs.map(([, y]) => y))];
  const products = logs.map(([x, y]) => (x - meanX) * (y - meanY));
  return mean(products) / mean(logs.map(([x]) => (x - meanX) ** 2));
}
