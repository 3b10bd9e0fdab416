type Value = { readonly at: number; readonly value: number };

/** The values of one metric, as long as an alarm looks back at them. */
export type Metric = {
  add(value: number, at: number): void;
  /** The sum of what was added after `from`, up to `to`; undefined where nothing was. Milliseconds since 1970. */
  sum(from: number, to: number): number | undefined;
};

/** @param keptForMilliseconds older values are forgotten */
export function createMetric(keptForMilliseconds: number): Metric {
  const values: Value[] = [];
  return {
    add: (value, at) => {
      values.push({ at, value });
      while (values[0] !== undefined && values[0].at <= at - keptForMilliseconds) values.shift();
    },
    sum: (from, to) => {
      const within = values.filter(({ at }) => at > from && at <= to);
      return within.length === 0 ? undefined : within.reduce((sum, { value }) => sum + value, 0);
    },
  };
}
