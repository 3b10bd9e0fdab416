import type { AlarmPlan, MetricFilterPlan } from "../assembly/plan.ts";
import type { Delay } from "../lambda/delay.ts";
import { valueOfLine } from "./log-pattern.ts";
import { createMetric, type Metric } from "./metric.ts";

export type AlarmState = {
  readonly logicalId: string;
  readonly name: string;
  /** What it means for people, and what to type. */
  readonly description: string;
  readonly state: "OK" | "ALARM";
  /** When it came to be so, in milliseconds since 1970. */
  readonly since: number;
};

export type AlarmsOptions = {
  readonly alarms: readonly AlarmPlan[];
  readonly filters: readonly MetricFilterPlan[];
  /** How many invocations of a function have failed so far. */
  readonly errorsOf: (functionName: string) => number;
  readonly delay: Delay;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Is told of each change of a state, once. */
  readonly onChange: (alarm: AlarmState) => void;
};

export type Alarms = {
  /** A line that was written to a log group. */
  onLine(logGroupName: string, line: string): void;
  /** The states at this moment. */
  states(): readonly AlarmState[];
  close(): Promise<void>;
};

/** CloudWatch looks at an alarm once a minute. */
const evaluatedEvery = 60_000;

/** Measures what metric filters and function errors say, and judges the alarms on it each minute. */
export function startAlarms(options: AlarmsOptions): Alarms {
  const { alarms, filters, delay, now, onChange } = options;
  const closing = new AbortController();
  const metrics = new Map<string, Metric>();
  const counted = new Map<string, number>();
  const known = new Map<string, AlarmState>();
  const begin = now();

  const metricOf = (metric: AlarmPlan["metric"]): Metric => {
    const key = JSON.stringify([metric.namespace, metric.name, metric.functionName]);
    const found = metrics.get(key) ?? createMetric(longestLookBack(alarms));
    metrics.set(key, found);
    return found;
  };
  const countErrors = (functionName: string, metric: Metric): void => {
    const errors = options.errorsOf(functionName);
    const fresh = errors - (counted.get(functionName) ?? 0);
    counted.set(functionName, errors);
    if (fresh > 0) metric.add(fresh, now());
  };
  const evaluate = (): readonly AlarmState[] => {
    for (const { metric } of alarms) {
      if (metric.functionName !== undefined) countErrors(metric.functionName, metricOf(metric));
    }
    return alarms.map((alarm) => {
      const isBreached = breaches(alarm, metricOf(alarm.metric), now());
      const { logicalId, name, description } = alarm;
      const identity = { logicalId, name, description };
      const before = known.get(logicalId) ?? { ...identity, state: "OK", since: begin };
      const state = isBreached ? "ALARM" : "OK";
      if (state === before.state) return before;
      const changed: AlarmState = { ...identity, state, since: now() };
      known.set(logicalId, changed);
      onChange(changed);
      return changed;
    });
  };
  const run = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      await delay(evaluatedEvery, closing.signal);
      if (!closing.signal.aborted) evaluate();
    }
  };
  const running = alarms.length === 0 ? Promise.resolve() : run();
  return {
    onLine: (logGroupName, line) => {
      for (const { metric, pattern, value, logGroupName: watched } of filters) {
        if (watched !== logGroupName) continue;
        const found = valueOfLine(line, pattern, value);
        if (found !== undefined) metricOf(metric).add(found, now());
      }
    },
    states: evaluate,
    close: async () => {
      closing.abort();
      await running;
    },
  };
}

/** Whether enough of the latest periods, which end now, are at or over the threshold. */
function breaches(alarm: AlarmPlan, metric: Metric, now: number): boolean {
  const period = alarm.periodSeconds * 1000;
  const ends = Array.from({ length: alarm.evaluationPeriods }, (_, index) => now - index * period);
  // Where nothing was measured, nothing is breached.
  const breached = ends.filter((end) => (metric.sum(end - period, end) ?? -Infinity) >= alarm.threshold);
  return breached.length >= alarm.datapointsToAlarm;
}

function longestLookBack(alarms: readonly AlarmPlan[]): number {
  return Math.max(
    0,
    ...alarms.map(({ periodSeconds, evaluationPeriods }) => periodSeconds * evaluationPeriods * 1000),
  );
}
