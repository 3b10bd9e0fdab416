type Value = { readonly at: number; readonly value: number };

export type Statistic = "Sum" | "Maximum";

/** The values of one metric, as long as an alarm looks back at them. */
export type Metric = {
  add(value: number, at: number): void;
  /** Of what was added after `from`, up to `to`; undefined where nothing was. Milliseconds since 1970. */
  of(statistic: Statistic, from: number, to: number): number | undefined;
};

/** @param keptForMilliseconds older values are forgotten */
export function createMetric(keptForMilliseconds: number): Metric {
  const values: Value[] = [];
  return {
    add: (value, at) => {
      values.push({ at, value });
      while (values[0] !== undefined && values[0].at <= at - keptForMilliseconds) values.shift();
    },
    of: (statistic, from, to) => {
      const within = values.filter(({ at }) => at > from && at <= to).map(({ value }) => value);
      const [first, ...rest] = within;
      if (first === undefined) return undefined;
      return rest.reduce((one, other) => (statistic === "Sum" ? one + other : Math.max(one, other)), first);
    },
  };
}
