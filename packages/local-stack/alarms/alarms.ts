import type { AlarmPlan, CompositeAlarmPlan, MetricFilterPlan, MetricPlan } from "../assembly/plan.ts";
import { createMinuteCounts } from "../gateway/minute-counts.ts";
import { fieldsOfLine } from "../gateway/operation.ts";
import type { Delay } from "../lambda/delay.ts";
import { createSamples, embeddedMetricsIn } from "./embedded-metrics.ts";
import { type AlarmStateValue, createMetric, type Metric, stateBy, valuesOf } from "./evaluate.ts";
import { valueOfLine } from "./log-pattern.ts";
import { isGauge } from "./service-metrics.ts";

export type AlarmState = Pick<
  AlarmPlan,
  "logicalId" | "name" | "description" | "actions" | "taken" | "periodSeconds" | "evaluationPeriods"
> & {
  readonly state: AlarmStateValue;
  /** When it came to be so, in milliseconds since 1970. */
  readonly since: number;
};

/** A message to a topic, which nothing here sends. */
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
  /** What a service has counted since its start; undefined where it announces each (see `record`). */
  readonly totalOf: (metric: MetricPlan) => number | undefined;
  /** What a service measures at this moment; undefined: nothing. */
  readonly gaugeOf: (metric: MetricPlan) => Promise<number | undefined>;
  readonly delay: Delay;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Is called once when an alarm goes off, and when it is over. */
  readonly onChange: (alarm: AlarmState) => void;
  /** Is called for each message that an alarm would send to a topic. */
  readonly onNotice?: (notice: AlarmNotice) => void;
};

export type Alarms = {
  /** A line that was written to a log group. */
  onLine(logGroupName: string, line: string): void;
  /** A value that a service measured. */
  record(metric: MetricPlan, value: number): void;
  /** The states by what is measured so far. */
  states(): readonly AlarmState[];
  /** Measures what is only measured by looking, then the states. */
  look(): Promise<readonly AlarmState[]>;
  /** The sums of a metric that a filter makes of lines, or that a service recorded; see `MinuteCounts`. */
  sums(metric: MetricPlan, from: number, to: number, period: number): ReadonlyMap<number, number>;
  /** Percentiles of a metric in embedded metric format; see `Samples`. */
  percentiles(
    metric: MetricPlan,
    percent: number,
    range: { readonly from: number; readonly to: number; readonly period: number },
  ): ReadonlyMap<number, number>;
  /** What an alarm is evaluated by, the latest period first; undefined where nothing was measured. */
  values(logicalId: string): readonly (number | undefined)[];
  close(): Promise<void>;
};

/** CloudWatch looks at an alarm once a minute. */
const evaluatedEvery = 60_000;

/** Measures what metric filters and services say, and evaluates the alarms on it each minute. */
export function startAlarms(options: AlarmsOptions): Alarms {
  const { alarms, filters, delay, now, onChange } = options;
  const closing = new AbortController();
  const sums = createMinuteCounts(Date.now, 1);
  const samples = createSamples();
  const metrics = new Map<string, Metric>();
  const counted = new Map<string, number>();
  const known = new Map<string, AlarmState>();
  const combined = new Map<string, AlarmStateValue>();
  const begin = now();
  const watched = new Map(alarms.flatMap((alarm) => alarm.metrics.map((metric) => [keyOf(metric), metric])));

  const metricOf = (metric: MetricPlan): Metric => {
    const found = metrics.get(keyOf(metric)) ?? createMetric(longestLookBack(alarms));
    metrics.set(keyOf(metric), found);
    return found;
  };
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
    // That a new alarm is off is no news.
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
  const look = async (): Promise<readonly AlarmState[]> => {
    await Promise.all([...watched.values()].filter(isGauge).map(addGauge));
    return evaluate();
  };
  const run = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      await delay(evaluatedEvery, closing.signal);
      // What can't be measured because all is closing is measured no more.
      if (!closing.signal.aborted) await look().catch(() => evaluate());
    }
  };
  const running = alarms.length === 0 ? Promise.resolve() : run();
  return {
    onLine: (logGroupName, line) => {
      for (const { metric, values } of embeddedMetricsIn(line))
        samples.add(keyOf(metric), values, Date.now());
      for (const filter of filters) {
        if (filter.logGroupName !== logGroupName) continue;
        const found = valueOfLine(line, filter.pattern, filter.value);
        if (found === undefined) continue;
        const { by } = filter;
        const dimensions = by === undefined ? {} : { [by.dimension]: String(fieldsOfLine(line)[by.field]) };
        sums.add(keyOf({ ...filter.metric, dimensions }), found);
        if (by === undefined) metricOf({ ...filter.metric, dimensions }).add(found, now());
      }
    },
    record: (metric, value) => {
      sums.add(keyOf(metric), value);
      if (watched.has(keyOf(metric))) metricOf(metric).add(value, now());
    },
    sums: (metric, from, to, period) => sums.sums(keyOf(metric), from, to, period),
    percentiles: (metric, percent, range) => samples.percentiles(keyOf(metric), percent, range),
    states: evaluate,
    look,
    values: (logicalId) => {
      const alarm = alarms.find((each) => each.logicalId === logicalId);
      return alarm === undefined ? [] : evaluatedBy(alarm).map(({ value }) => value);
    },
    close: async () => {
      closing.abort();
      await running;
    },
  };
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

function keyOf({ namespace, name, dimensions }: MetricPlan): string {
  return JSON.stringify([namespace, name, dimensions]);
}

function longestLookBack(alarms: readonly AlarmPlan[]): number {
  return Math.max(
    0,
    ...alarms.map(({ periodSeconds, evaluationPeriods }) => periodSeconds * evaluationPeriods * 1000),
  );
}
