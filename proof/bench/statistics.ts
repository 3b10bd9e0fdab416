export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Interpolated between the two nearest values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  const place = (sorted.length - 1) * share;
  const [below = Number.NaN, above = Number.NaN] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  return below + (above - below) * (place - Math.floor(place));
}

/** The exponent of the power that fits points best, by least squares of their logarithms; 1 is linear. */
export function exponentOf(points: readonly (readonly [number, number])[]): number {
  const logs = points.map(([x, y]) => [Math.log(x), Math.log(y)] as const);
  const mean = (values: readonly number[]) => values.reduce((sum, each) => sum + each, 0) / values.length;
  const [meanX, meanY] = [mean(logs.map(([x]) => x)), mean(logs.map(([, y]) => y))];
  const products = logs.map(([x, y]) => (x - meanX) * (y - meanY));
  return mean(products) / mean(logs.map(([x]) => (x - meanX) ** 2));
}
