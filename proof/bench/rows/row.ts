/** Settings that all measurements of a run share. */
export type Context = {
  /** Fewer rounds, without what needs a long run. */
  readonly isQuick: boolean;
  /** Date and machine to record the price counts with; undefined: not recorded. */
  readonly recordedAs: string | undefined;
  readonly onProgress: (step: string) => void;
};

/** Goal of a row's figure over a peer's, as the table shows it; without `over`, of the figure itself. */
export type Goal = { readonly over?: string; readonly goal: `${"≤" | "≥" | "="} ${number}` };

/** A row's figure with one goal. */
export type Comparison = {
  readonly over: string | undefined;
  readonly goal: Goal["goal"];
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
  const comparisons = goals.map(({ over, goal, values }): Comparison => {
    const ratios =
      values === undefined ? ours : ours.map((each, round) => each / (values[round] ?? Number.NaN));
    const ratio = median(ratios);
    return { over, goal, theirs: values && median(values), ratio, isMet: isMetBy(ratio, goal) };
  });
  return { name, figure, ours: median(ours), rounds: ours.length, comparisons };
}

/** Creates a row from figures of our implementation and of those that it is compared with. */
export function peerRow<Peer extends string>(
  name: string,
  figure: string,
  valuesOf: (implementation: Peer | "ours") => readonly number[],
  goals: readonly (Goal & { readonly over: Peer })[],
): Row {
  const compared = goals.map((goal) => ({ ...goal, values: valuesOf(goal.over) }));
  return rowOf(name, figure, valuesOf("ours"), compared);
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
