/** Plans monitoring: metric filters on the functions' logs, and alarms. */

import { z } from "zod";
import { isServiceMetric, knownServiceMetrics } from "../alarms/service-metrics.ts";
import { parseFilterPattern } from "../gateway/logs/filter-pattern.ts";
import type {
  AlarmPlan,
  AlarmTerm,
  CompositeAlarmPlan,
  MetricFilterPlan,
  MetricPlan,
  WatchedMetric,
} from "./plan.ts";
import { PlanError, type Problem } from "./problems.ts";
import { number, type Planner, type Properties, parseProperties } from "./properties.ts";

const filterSchema = z.strictObject({
  FilterName: z.string().optional(),
  FilterPattern: z.string(),
  LogGroupName: z.string(),
  MetricTransformations: z.tuple([
    z.strictObject({
      MetricName: z.string(),
      MetricNamespace: z.string(),
      // A number, or a field of the line.
      MetricValue: z.string().regex(/^(\d+(\.\d+)?|\$\.\w+)$/),
      Dimensions: z
        .tuple([z.strictObject({ Key: z.string(), Value: z.string().regex(/^\$\.\w+$/) })])
        .optional(),
    }),
  ]),
});

export const planMetricFilter: Planner<MetricFilterPlan> = (logicalId, properties, scope) => {
  const { FilterPattern, LogGroupName, MetricTransformations } = parseProperties(
    filterSchema,
    properties,
    scope,
  );
  const [{ MetricName, MetricNamespace, MetricValue, Dimensions }] = MetricTransformations;
  const [by] = Dimensions ?? [];
  return {
    logicalId,
    logGroupName: LogGroupName,
    matches: parseFilterPattern(FilterPattern),
    metric: { namespace: MetricNamespace, name: MetricName },
    value: MetricValue.startsWith("$.") ? { field: MetricValue.slice(2) } : Number(MetricValue),
    ...(by && { by: { dimension: by.Key, field: by.Value.slice(2) } }),
  };
};

/**
 * Math expression that is the metric within days (from 1, Monday) and hours of the week, and 1 outside them.
 */
const duringHours =
  /^IF\(DAY\(m0\) >= (\d) AND DAY\(m0\) <= (\d) AND HOUR\(m0\) >= (\d+) AND HOUR\(m0\) < (\d+), m0, 1\)$/;

/** Math expression that is 1 where the first of two metrics counts something and the second nothing. */
const firstWithoutSecond = "m0 > m0 * m1";

const dimensions = z.array(z.strictObject({ Name: z.string(), Value: z.string() })).default([]);
const statistic = z.enum(["Sum", "Maximum"]);
const expressionSchema = z.strictObject({
  Expression: z.union([
    z.enum(["SUM(FILL(METRICS(), 0))", "MAX(FILL(METRICS(), 0))", firstWithoutSecond]),
    z.string().regex(duringHours),
  ]),
  Id: z.string(),
  Label: z.string().optional(),
  ReturnData: z.literal(true).optional(),
});
const seriesSchema = z.strictObject({
  Id: z.string(),
  Label: z.string().optional(),
  MetricStat: z.strictObject({
    Metric: z.strictObject({ Dimensions: dimensions, MetricName: z.string(), Namespace: z.string() }),
    Period: number,
    Stat: statistic,
  }),
  ReturnData: z.literal(false),
});
const common = {
  AlarmDescription: z.string().default(""),
  AlarmName: z.string().optional(),
  ComparisonOperator: z.enum(["GreaterThanOrEqualToThreshold", "LessThanOrEqualToThreshold"]),
  DatapointsToAlarm: number.optional(),
  EvaluationPeriods: number,
  Threshold: number,
  TreatMissingData: z.enum(["notBreaching", "breaching", "ignore"]),
};
const aloneSchema = z.strictObject({
  ...common,
  Dimensions: dimensions,
  MetricName: z.string(),
  Namespace: z.string(),
  Period: number,
  Statistic: statistic,
});
const togetherSchema = z.strictObject({
  ...common,
  Metrics: z.tuple([expressionSchema], seriesSchema),
});
const ignoredOfAlarms = ["ActionsEnabled", "AlarmActions", "InsufficientDataActions", "OKActions", "Tags"];

export const planAlarm: Planner<AlarmPlan> = (logicalId, properties, scope) => {
  const isTogether = properties.Metrics !== undefined;
  const alarm = isTogether
    ? parseProperties(togetherSchema, properties, scope, ignoredOfAlarms)
    : parseProperties(aloneSchema, properties, scope, ignoredOfAlarms);
  return {
    logicalId,
    name: scope.name(logicalId),
    description: alarm.AlarmDescription,
    ...measured(alarm),
    breaches: alarm.ComparisonOperator === "LessThanOrEqualToThreshold" ? "below" : "above",
    missing: alarm.TreatMissingData,
    threshold: alarm.Threshold,
    evaluationPeriods: alarm.EvaluationPeriods,
    datapointsToAlarm: alarm.DatapointsToAlarm ?? alarm.EvaluationPeriods,
    ...actionsOf(properties),
  };
};

const compositeSchema = z.strictObject({
  AlarmDescription: z.string().default(""),
  AlarmName: z.string().optional(),
  AlarmRule: z.string(),
});

/** Plans a composite alarm: OR of other alarms' states. */
export const planCompositeAlarm: Planner<CompositeAlarmPlan> = (logicalId, properties, scope) => {
  const alarm = parseProperties(compositeSchema, properties, scope, ignoredOfAlarms);
  return {
    logicalId,
    name: scope.name(logicalId),
    description: alarm.AlarmDescription,
    terms: alarm.AlarmRule.split(" OR ").map(alarmTerm),
    ...actionsOf(properties),
  };
};

const term = /^(NOT )?(OK|ALARM|INSUFFICIENT_DATA)\("([^"]+)"\)$/;

function alarmTerm(text: string): AlarmTerm {
  const [, negation, given, alarm] = term.exec(text) ?? [];
  const state = alarmStates.find((known) => known === given);
  if (state === undefined || alarm === undefined) {
    throw new PlanError(
      `its rule says ${text}, which is not understood here`,
      'Write ALARM("name") or NOT OK("name"), joined by OR.',
    );
  }
  return { alarm, state, isNegated: negation !== undefined };
}

const alarmStates = ["OK", "ALARM", "INSUFFICIENT_DATA"] as const;

function actionsOf({ AlarmActions, OKActions }: Properties): Pick<AlarmPlan, "actions" | "okActions"> {
  const actions = z.array(action).default([]);
  return { actions: actions.parse(AlarmActions), okActions: actions.parse(OKActions) };
}

/** Topics are not created here: one of the stack's is identified by its logical id. */
const action = z.union([z.string(), z.object({ Ref: z.string() }).transform(({ Ref }) => Ref)]);

function measured(
  alarm: z.output<typeof aloneSchema> | z.output<typeof togetherSchema>,
): Pick<AlarmPlan, "metrics" | "taken" | "during" | "periodSeconds"> {
  if (!("Metrics" in alarm)) {
    const metric = watchedMetric(alarm, alarm.Statistic);
    return { metrics: [metric], taken: "alone", periodSeconds: alarm.Period };
  }
  const [{ Expression }, ...given] = alarm.Metrics;
  const series = given.toSorted((one, other) => one.Id.localeCompare(other.Id));
  const [first, ...others] = new Set(series.map(({ MetricStat }) => MetricStat.Period));
  if (first === undefined || others.length > 0) {
    throw new PlanError("its metrics have not one period together", "Give all of them the same.");
  }
  return {
    metrics: series.map(({ MetricStat: { Metric, Stat } }) => watchedMetric(Metric, Stat)),
    ...takenBy(Expression),
    periodSeconds: first,
  };
}

function takenBy(expression: string): Pick<AlarmPlan, "taken" | "during"> {
  const [firstDay, lastDay, from, to] = duringHours.exec(expression)?.slice(1).map(Number) ?? [];
  if (firstDay !== undefined && lastDay !== undefined && from !== undefined && to !== undefined) {
    return { taken: "alone", during: { firstDay, lastDay, from, to } };
  }
  if (expression === firstWithoutSecond) return { taken: "first without second" };
  return { taken: expression.startsWith("SUM") ? "as sum" : "as greatest" };
}

function watchedMetric(
  metric: Pick<z.output<typeof aloneSchema>, "Namespace" | "MetricName" | "Dimensions">,
  stat: WatchedMetric["statistic"],
): WatchedMetric {
  return {
    namespace: metric.Namespace,
    name: metric.MetricName,
    dimensions: Object.fromEntries(metric.Dimensions.map(({ Name, Value }) => [Name, Value])),
    statistic: stat,
  };
}

/**
 * Finds alarms on metrics that are not measured here, which would never fire.
 * @param names resources of the stack that a dimension can name
 */
export function unmeasuredAlarms(
  alarms: readonly AlarmPlan[],
  filters: readonly MetricFilterPlan[],
  names: ReadonlySet<string>,
): Problem[] {
  const isMeasured = (metric: MetricPlan): boolean =>
    Object.keys(metric.dimensions).length === 0
      ? filters.some((filter) => filter.by === undefined && isSame(filter.metric, metric))
      : isServiceMetric(metric) && Object.values(metric.dimensions).every((value) => names.has(value));
  return alarms.flatMap(({ logicalId, metrics }) =>
    metrics
      .filter((metric) => !isMeasured(metric))
      .map(({ namespace, name }) => ({
        logicalId,
        what: `its metric ${namespace} ${name} is not measured here`,
        remedy: `Watch the metric of a metric filter of the stack, or of its own parts one of ${knownServiceMetrics()}.`,
      })),
  );
}

function isSame(one: MetricFilterPlan["metric"], other: MetricFilterPlan["metric"]): boolean {
  return one.namespace === other.namespace && one.name === other.name;
}
