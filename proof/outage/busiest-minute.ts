const minuteInMilliseconds = 60_000;

/**
 * The most calls in any minute, wherever it begins: a limit that holds from one full minute to the next can be
 * exceeded twofold in the minute between.
 * @param times milliseconds, in any order
 */
export function mostInAnyMinute(times: readonly number[]): number {
  const sorted = times.toSorted((one, other) => one - other);
  let oldest = 0;
  let most = 0;
  for (const [index, time] of sorted.entries()) {
    // A minute ends before the moment that is a minute after its first.
    while (time - (sorted[oldest] ?? time) >= minuteInMilliseconds) oldest += 1;
    most = Math.max(most, index - oldest + 1);
  }
  return most;
}
