/** Plans of what watches: metric filters on the logs of functions, and alarms. */

import { z } from "zod";
import { parseLogPattern } from "../alarms/log-pattern.ts";
import type { AlarmPlan, FunctionPlan, MetricFilterPlan } from "./plan.ts";
import { PlanError, type Problem } from "./problems.ts";
import { number, parseProperties } from "./properties.ts";
import type { StackScope } from "./stack-scope.ts";

type Properties = Readonly<Record<string, unknown>>;

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
    }),
  ]),
});

/** A metric made of a log group's lines. */
export function planMetricFilter(
  logicalId: string,
  properties: Properties,
  scope: StackScope,
): MetricFilterPlan {
  const { FilterPattern, LogGroupName, MetricTransformations } = parseProperties(
    filterSchema,
    properties,
    scope,
  );
  const [{ MetricName, MetricNamespace, MetricValue }] = MetricTransformations;
  return {
    logicalId,
    logGroupName: LogGroupName,
    pattern: parseLogPattern(FilterPattern),
    metric: { namespace: MetricNamespace, name: MetricName },
    value: MetricValue.startsWith("$.") ? { field: MetricValue.slice(2) } : Number(MetricValue),
  };
}

const alarmSchema = z.strictObject({
  AlarmDescription: z.string().default(""),
  AlarmName: z.string().optional(),
  ComparisonOperator: z.literal("GreaterThanOrEqualToThreshold"),
  DatapointsToAlarm: number.optional(),
  Dimensions: z.array(z.strictObject({ Name: z.string(), Value: z.string() })).default([]),
  EvaluationPeriods: number,
  MetricName: z.string(),
  Namespace: z.string(),
  Period: number,
  Statistic: z.literal("Sum"),
  Threshold: number,
  TreatMissingData: z.literal("notBreaching"),
});
const ignoredOfAlarms = ["ActionsEnabled", "AlarmActions", "InsufficientDataActions", "OKActions", "Tags"];

export function planAlarm(logicalId: string, properties: Properties, scope: StackScope): AlarmPlan {
  const alarm = parseProperties(alarmSchema, properties, scope, ignoredOfAlarms);
  const [dimension, ...others] = alarm.Dimensions;
  if (others.length > 0 || (dimension !== undefined && dimension.Name !== "FunctionName")) {
    throw new PlanError(
      `its dimensions ${alarm.Dimensions.map(({ Name }) => Name).join(", ")} are not known here`,
      "Watch a metric of a function or of a metric filter.",
    );
  }
  return {
    logicalId,
    name: scope.name(logicalId),
    description: alarm.AlarmDescription,
    metric: {
      namespace: alarm.Namespace,
      name: alarm.MetricName,
      ...(dimension && { functionName: dimension.Value }),
    },
    periodSeconds: alarm.Period,
    threshold: alarm.Threshold,
    evaluationPeriods: alarm.EvaluationPeriods,
    datapointsToAlarm: alarm.DatapointsToAlarm ?? alarm.EvaluationPeriods,
  };
}

/** An alarm on what nothing measures here would always be silent. */
export function unmeasuredAlarms(
  alarms: readonly AlarmPlan[],
  filters: readonly MetricFilterPlan[],
  functions: readonly FunctionPlan[],
): Problem[] {
  const isMeasured = ({ namespace, name, functionName }: AlarmPlan["metric"]): boolean => {
    if (functionName === undefined) {
      return filters.some(({ metric }) => metric.namespace === namespace && metric.name === name);
    }
    const isErrors = namespace === "AWS/Lambda" && name === "Errors";
    return isErrors && functions.some((planned) => planned.name === functionName);
  };
  return alarms
    .filter(({ metric }) => !isMeasured(metric))
    .map(({ logicalId, metric: { namespace, name } }) => ({
      logicalId,
      what: `its metric ${namespace} ${name} is not measured here`,
      remedy:
        "Watch AWS/Lambda Errors of a function of the stack, or the metric of one of its metric filters.",
    }));
}
