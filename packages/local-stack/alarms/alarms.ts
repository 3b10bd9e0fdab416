import type { AlarmPlan, CompositeAlarmPlan, MetricFilterPlan, MetricPlan } from "../assembly/plan.ts";
import { createMinuteCounts, type MetricRange } from "../gateway/minute-counts.ts";
import { fieldsOfLine } from "../gateway/operation.ts";
import type { Delay } from "../lambda/delay.ts";
import { embeddedMetricsIn } from "./embedded-metrics.ts";
import { type AlarmStateValue, createMetric, type Metric, stateBy, valuesOf } from "./evaluate.ts";
import { isGauge } from "./service-metrics.ts";

export type AlarmState = Pick<
  AlarmPlan,
  "logicalId" | "name" | "description" | "actions" | "taken" | "periodSeconds" | "evaluationPeriods"
> & {
  readonly state: AlarmStateValue;
  /** Time of the last state change, in milliseconds since 1970. */
  readonly since: number;
};

/** A notification for an SNS topic. The local system does not deliver it. */
export type AlarmNotice = {
  readonly alarm: string;
  readonly description: string;
  readonly state: AlarmStateValue;
  /** The topic's ARN, or its logical id. */
  readonly topic: string;
};

export type AlarmsOptions = {
  readonly alarms: readonly AlarmPlan[];
  readonly compositeAlarms?: readonly CompositeAlarmPlan[];
  readonly filters: readonly MetricFilterPlan[];
  /**
   * Total that a service has counted since its start; undefined if the service reports each value through
   * `record`.
   */
  readonly totalOf: (metric: MetricPlan) => number | undefined;
  /** Current value of a gauge; undefined if there is none. */
  readonly gaugeOf: (metric: MetricPlan) => Promise<number | undefined>;
  readonly delay: Delay;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Called when an alarm enters or leaves ALARM. */
  readonly onChange: (alarm: AlarmState) => void;
  readonly onNotice?: (notice: AlarmNotice) => void;
};

export type Alarms = ReturnType<typeof startAlarms>;

/** Milliseconds; CloudWatch keeps the values for 15 days. */
const keptForDashboards = 3 * 3_600_000;
/** CloudWatch evaluates alarms once a minute. */
const evaluatedEvery = 60_000;

export function startAlarms(options: AlarmsOptions) {
  const { alarms, filters, delay, now, onChange } = options;
  const closing = new AbortController();
  const sums = createMinuteCounts(Date.now, 1);
  /** Watched by alarms, and logged in embedded metric format. */
  const metrics = new Map<string, Metric>();
  const embedded = new Map<string, Metric>();
  const counted = new Map<string, number>();
  const known = new Map<string, AlarmState>();
  const combined = new Map<string, AlarmStateValue>();
  const begin = now();
  const watched = new Map(alarms.flatMap((alarm) => alarm.metrics.map((metric) => [keyOf(metric), metric])));

  const metricOf = (metric: MetricPlan) => metricIn(metrics, metric, longestLookBack(alarms));
  const addFreshCounts = (metric: MetricPlan): void => {
    const total = options.totalOf(metric);
    if (total === undefined) return;
    const fresh = total - (counted.get(keyOf(metric)) ?? 0);
    counted.set(keyOf(metric), total);
    if (fresh > 0) metricOf(metric).add(fresh, now());
  };
  const addGauge = async (metric: MetricPlan): Promise<void> => {
    const value = await options.gaugeOf(metric);
    if (value !== undefined) metricOf(metric).add(value, now());
  };
  const evaluatedBy = (alarm: AlarmPlan) => valuesOf(alarm, metricOf, { begin, now: now() });
  const evaluateAlone = (alarm: AlarmPlan): AlarmState => {
    const { logicalId, name, description, actions, taken, periodSeconds, evaluationPeriods } = alarm;
    const identity = { logicalId, name, description, actions, taken, periodSeconds, evaluationPeriods };
    const before = known.get(logicalId) ?? { ...identity, state: "INSUFFICIENT_DATA", since: begin };
    const state = stateBy(alarm, evaluatedBy(alarm), before.state);
    if (state === before.state) return before;
    const changed: AlarmState = { ...identity, state, since: now() };
    known.set(logicalId, changed);
    notify(alarm, state, options);
    // A new alarm that starts outside ALARM is not reported.
    if (before.state === "ALARM" || state === "ALARM") onChange(changed);
    return changed;
  };
  const evaluate = (): readonly AlarmState[] => {
    for (const metric of watched.values()) addFreshCounts(metric);
    const states = alarms.map(evaluateAlone);
    for (const composite of options.compositeAlarms ?? []) {
      const state = stateOfTerms(composite, states);
      if (state === combined.get(composite.logicalId)) continue;
      combined.set(composite.logicalId, state);
      notify(composite, state, options);
    }
    return states;
  };
  const refresh = async (): Promise<readonly AlarmState[]> => {
    await Promise.all([...watched.values()].filter(isGauge).map(addGauge));
    return evaluate();
  };
  const run = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      await delay(evaluatedEvery, closing.signal);
      // Gauges fail while the system closes.
      if (!closing.signal.aborted) await refresh().catch(() => evaluate());
    }
  };
  const running = alarms.length === 0 ? Promise.resolve() : run();
  return {
    onLine: (logGroupName: string, line: string): void => {
      for (const { metric, values } of embeddedMetricsIn(line))
        for (const value of values) metricIn(embedded, metric, keptForDashboards).add(value, Date.now());
      for (const filter of filters) {
        if (filter.logGroupName !== logGroupName) continue;
        const found = valueIn(line, filter);
        if (found === undefined) continue;
        const { by } = filter;
        const dimensions = by === undefined ? {} : { [by.dimension]: String(fieldsOfLine(line)[by.field]) };
        sums.add(keyOf({ ...filter.metric, dimensions }), found);
        if (by === undefined) metricOf({ ...filter.metric, dimensions }).add(found, now());
      }
    },
    record: (metric: MetricPlan, value: number): void => {
      sums.add(keyOf(metric), value);
      if (watched.has(keyOf(metric))) metricOf(metric).add(value, now());
    },
    /** Sums of a metric that a filter extracts from lines, or that a service recorded. */
    sums: (metric: MetricPlan, range: MetricRange) => sums.sums(keyOf(metric), range),
    percentiles: (metric: MetricPlan, percent: number, range: MetricRange) =>
      metricIn(embedded, metric, keptForDashboards).percentiles(percent, range),
    states: evaluate,
    /** Polls the gauges, then evaluates all alarms. */
    refresh,
    /** Values by which an alarm is evaluated, latest period first; undefined for periods without a value. */
    values: (logicalId: string): readonly (number | undefined)[] => {
      const alarm = alarms.find((each) => each.logicalId === logicalId);
      return alarm === undefined ? [] : evaluatedBy(alarm).map(({ value }) => value);
    },
    close: async (): Promise<void> => {
      closing.abort();
      await running;
    },
  };
}

/** The value that a line adds to a filter's metric; undefined if it does not match or has no number. */
function valueIn(line: string, { matches, value }: MetricFilterPlan): number | undefined {
  if (!matches(line)) return undefined;
  const held = typeof value === "number" ? value : fieldsOfLine(line)[value.field];
  return typeof held === "number" && Number.isFinite(held) ? held : undefined;
}

function notify(
  { name, description, actions, okActions }: AlarmPlan | CompositeAlarmPlan,
  state: AlarmStateValue,
  { onNotice }: AlarmsOptions,
): void {
  const topics = state === "ALARM" ? actions : okActions;
  for (const topic of topics) onNotice?.({ alarm: name, description, state, topic });
}

function stateOfTerms({ terms }: CompositeAlarmPlan, states: readonly AlarmState[]): AlarmStateValue {
  const isTrue = terms.some(
    ({ alarm, state, isNegated }) =>
      states.some((each) => each.name === alarm && each.state === state) !== isNegated,
  );
  return isTrue ? "ALARM" : "OK";
}

function metricIn(metrics: Map<string, Metric>, metric: MetricPlan, keptForMilliseconds: number): Metric {
  const found = metrics.get(keyOf(metric)) ?? createMetric(keptForMilliseconds);
  metrics.set(keyOf(metric), found);
  return found;
}

function keyOf({ namespace, name, dimensions }: MetricPlan): string {
  return JSON.stringify([namespace, name, dimensions]);
}

function longestLookBack(alarms: readonly AlarmPlan[]): number {
  return Math.max(
    0,
    ...alarms.map(({ periodSeconds, evaluationPeriods }) => periodSeconds * evaluationPeriods * 1000),
  );
}
