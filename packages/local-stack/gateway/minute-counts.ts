/** Times in seconds since 1970, and the length of a period in seconds. */
export type MetricRange = { readonly from: number; readonly to: number; readonly period: number };

const minute = 60;
/** CloudWatch keeps one-minute values for 15 days. Source: CloudWatch user guide, "Metrics retention". */
const keptFor = 15 * 24 * 60 * minute;

/**
 * Counters that are summed by period, by default one minute as in CloudWatch.
 * @param now milliseconds since 1970
 * @param resolution seconds; below a minute for stages that divide their durations
 */
export function createMinuteCounts(now: () => number, resolution = minute) {
  const counts = new Map<string, Map<number, number>>();
  return {
    add: (name: string, value: number): void => {
      const at = beginOf(now() / 1000, resolution);
      const minutes = counts.get(name) ?? new Map<number, number>();
      counts.set(name, minutes);
      minutes.set(at, (minutes.get(at) ?? 0) + value);
      // Minutes are inserted in order: the oldest comes first.
      for (const old of minutes.keys()) {
        if (old > at - keptFor) break;
        minutes.delete(old);
      }
    },
    /**
     * Sums from `from` (inclusive) to `to` (exclusive) by the start of their period, earliest first; periods
     * without a count are left out.
     */
    sums: (name: string, { from, to, period }: MetricRange): ReadonlyMap<number, number> => {
      const sums = new Map<number, number>();
      for (const [at, value] of counts.get(name) ?? []) {
        const begin = beginOf(at, period);
        if (begin >= from && begin < to) sums.set(begin, (sums.get(begin) ?? 0) + value);
      }
      return sums;
    },
  };
}

export function beginOf(seconds: number, period: number): number {
  return Math.floor(seconds / period) * period;
}
