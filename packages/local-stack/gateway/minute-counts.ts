/** Sums of what was counted, by the minute, as CloudWatch keeps the metrics of AWS's services, or by less. */
export type MinuteCounts = {
  add(name: string, value: number): void;
  /**
   * What was counted from `from` to before `to`, in periods of so many seconds, the earliest first; periods without
   * a count are left out. Times are seconds since 1970.
   */
  sums(name: string, from: number, to: number, period: number): ReadonlyMap<number, number>;
};

const minute = 60;
/** CloudWatch keeps values of a minute for 15 days. Source: CloudWatch user guide, "Metrics retention". */
const keptFor = 15 * 24 * 60 * minute;

/**
 * @param now the clock, in milliseconds since 1970
 * @param resolution in seconds: below a minute for stages that divide their durations
 */
export function createMinuteCounts(now: () => number, resolution = minute): MinuteCounts {
  const counts = new Map<string, Map<number, number>>();
  return {
    add: (name, value) => {
      const at = beginOf(now() / 1000, resolution);
      const minutes = counts.get(name) ?? new Map<number, number>();
      counts.set(name, minutes);
      minutes.set(at, (minutes.get(at) ?? 0) + value);
      // Minutes were added in their order, so that the oldest comes first.
      for (const old of minutes.keys()) {
        if (old > at - keptFor) break;
        minutes.delete(old);
      }
    },
    sums: (name, from, to, period) => {
      const sums = new Map<number, number>();
      for (const [at, value] of counts.get(name) ?? []) {
        const begin = beginOf(at, period);
        if (begin >= from && begin < to) sums.set(begin, (sums.get(begin) ?? 0) + value);
      }
      return sums;
    },
  };
}

/** When the period began in which a moment lies. */
export function beginOf(seconds: number, period: number): number {
  return Math.floor(seconds / period) * period;
}
