import type { AlarmPlan, AlarmTerm, MetricPlan, WatchedMetric } from "../assembly/plan.ts";
import { beginOf, type MetricRange } from "../gateway/minute-counts.ts";

export type AlarmStateValue = AlarmTerm["state"];

export type PeriodValue = { readonly value: number | undefined; readonly isBreached: boolean };

/** Milliseconds since 1970. */
type EvaluationTime = { readonly begin: number; readonly now: number };

/**
 * Values of an alarm's latest periods, latest first; the latest period ends now. Periods before `begin` are
 * omitted rather than counted as missing.
 */
export function valuesOf(
  alarm: AlarmPlan,
  metricOf: (metric: MetricPlan) => Metric,
  { begin, now }: EvaluationTime,
): readonly PeriodValue[] {
  const period = alarm.periodSeconds * 1000;
  return Array.from({ length: alarm.evaluationPeriods }, (_, index) => {
    const end = now - index * period;
    const measured = measuredIn(alarm, metricOf, end - period, end);
    const value = isDuring(alarm, end - period) ? measured : 1;
    const isUnknown = alarm.breaches === "below" && end - period < begin;
    return { value, isBreached: !isUnknown && isBreached(alarm, value) };
  });
}

/** Whether a period starts within the hours of the week that the alarm covers; true if it names none. */
function isDuring({ during }: AlarmPlan, begin: number): boolean {
  if (during === undefined) return true;
  const time = new Date(begin);
  const day = time.getUTCDay() === 0 ? 7 : time.getUTCDay();
  const hour = time.getUTCHours();
  return day >= during.firstDay && day <= during.lastDay && hour >= during.from && hour < during.to;
}

function measuredIn(
  { metrics, taken }: AlarmPlan,
  metricOf: (metric: MetricPlan) => Metric,
  from: number,
  to: number,
): number | undefined {
  const values = metrics.map((metric) => metricOf(metric).of(metric.statistic, from, to));
  switch (taken) {
    case "alone":
      return values[0];
    case "as sum":
      return values.reduce<number>((sum, value = 0) => sum + value, 0);
    case "as greatest":
      return Math.max(...values.map((value = 0) => value));
    case "first without second": {
      const [first = 0, second = 0] = values;
      return Number(first > first * second);
    }
  }
}

/**
 * Determines an alarm's state from the values of its periods.
 * @param before the previous state, which is kept while the missing values could change the result
 */
export function stateBy(
  { missing, datapointsToAlarm }: AlarmPlan,
  values: readonly PeriodValue[],
  before: AlarmStateValue,
): AlarmStateValue {
  const breached = values.filter(({ isBreached }) => isBreached).length;
  if (breached >= datapointsToAlarm) return "ALARM";
  const missed = missing === "ignore" ? values.filter(({ value }) => value === undefined).length : 0;
  return breached + missed < datapointsToAlarm ? "OK" : before;
}

function isBreached({ breaches, threshold, missing }: AlarmPlan, value: number | undefined): boolean {
  if (value === undefined) return missing === "breaching";
  return breaches === "above" ? value >= threshold : value <= threshold;
}

export type Metric = ReturnType<typeof createMetric>;

/**
 * Values of one metric for as long as they are needed.
 * @param keptForMilliseconds older values are dropped
 */
export function createMetric(keptForMilliseconds: number) {
  const values: { readonly at: number; readonly value: number }[] = [];
  return {
    /** @param at milliseconds since 1970 */
    add: (value: number, at: number): void => {
      values.push({ at, value });
      while (values[0] !== undefined && values[0].at <= at - keptForMilliseconds) values.shift();
    },
    /**
     * Statistic of the values after `from`, up to and including `to`, in milliseconds since 1970; undefined if
     * there are none.
     */
    of: (statistic: WatchedMetric["statistic"], from: number, to: number): number | undefined => {
      const within = values.filter(({ at }) => at > from && at <= to).map(({ value }) => value);
      const [first, ...rest] = within;
      if (first === undefined) return undefined;
      return rest.reduce((one, other) => (statistic === "Sum" ? one + other : Math.max(one, other)), first);
    },
    /** Percentiles by period start, for periods with values. */
    percentiles: (percent: number, { from, to, period }: MetricRange): ReadonlyMap<number, number> => {
      const periods = Map.groupBy(values, ({ at }) => beginOf(at / 1_000, period));
      const within = [...periods].filter(([begin]) => begin >= from && begin < to);
      return new Map(
        within.flatMap(([begin, some]) => {
          const sorted = some.map(({ value }) => value).toSorted((one, other) => one - other);
          const value = sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)];
          return value === undefined ? [] : [[begin, value] as const];
        }),
      );
    },
  };
}
