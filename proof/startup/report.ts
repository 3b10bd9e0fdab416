/** The value in the middle; of an even number the upper one of the two. */
export function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** One figure: its name, value and goal in seconds, and whether it is met. */
export function lineOf(name: string, seconds: number, goal: number): string {
  return `${name} ${seconds.toFixed(2)} ${goal} ${seconds <= goal ? "ok" : "short"}`;
}
