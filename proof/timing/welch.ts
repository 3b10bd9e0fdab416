/** What is known of a series of measurements without keeping them: Welford's way, which loses no digits. */
type Moments = { count: number; mean: number; squares: number };

/** Welch's t of two series: how far their means lie apart, in standard errors. */
export function welch(first: readonly number[], second: readonly number[]): number {
  const [one, other] = [momentsOf(first), momentsOf(second)];
  const error = Math.sqrt(varianceOf(one) / one.count + varianceOf(other) / other.count);
  if (error === 0) return one.mean === other.mean ? 0 : Number.POSITIVE_INFINITY;
  return (one.mean - other.mean) / error;
}

function momentsOf(values: readonly number[]): Moments {
  const moments = { count: 0, mean: 0, squares: 0 };
  for (const value of values) {
    moments.count += 1;
    const distance = value - moments.mean;
    moments.mean += distance / moments.count;
    moments.squares += distance * (value - moments.mean);
  }
  return moments;
}

function varianceOf({ count, squares }: Moments): number {
  return count < 2 ? 0 : squares / (count - 1);
}

/** Measurements of two classes, in any unit of time. */
export type Measured = { readonly first: readonly number[]; readonly second: readonly number[] };

const crops = 20;
/** Below so many measurements in a class a t says nothing. */
const fewest = 100;

/**
 * The largest t, whatever its sign, of all measurements and of those below thresholds. What is slow is noise, for
 * example of other processes, and its long tail hides a difference: so it is cut off at more and more percentiles of all
 * (Reparaz, Balasch, Verbauwhede: "Dude, is my code constant time?").
 */
export function largestT({ first, second }: Measured): number {
  const sorted = Float64Array.from([...first, ...second]).sort();
  const thresholds = Array.from({ length: crops }, (_, index) => {
    const share = 1 - 0.5 ** ((10 * (index + 1)) / crops);
    return sorted[Math.floor(share * (sorted.length - 1))] ?? Number.POSITIVE_INFINITY;
  });
  const ts = [Number.POSITIVE_INFINITY, ...thresholds].flatMap((threshold) => {
    const below = (values: readonly number[]) => values.filter((value) => value <= threshold);
    const [one, other] = [below(first), below(second)];
    return Math.min(one.length, other.length) < fewest ? [] : [Math.abs(welch(one, other))];
  });
  return Math.max(0, ...ts);
}
