import { z } from "zod";
import { synthesizeStage } from "./stage-template.ts";

/** An alarm as CloudFormation gets it. */
export type TemplateAlarm = {
  readonly logicalId: string;
  /** The heading of its entry in the runbook, with "-" for spaces. */
  readonly entry: string;
  readonly description: string;
  readonly metrics: readonly {
    readonly namespace: string;
    readonly name: string;
    readonly statistic: string;
  }[];
  readonly together: "sum" | "greatest" | undefined;
  readonly periodSeconds: number;
  readonly evaluationPeriods: number;
  readonly datapointsToAlarm: number;
  readonly threshold: number;
  readonly isLack: boolean;
};

const metric = z.object({ Namespace: z.string(), MetricName: z.string() });
const alone = metric.extend({ Period: z.number(), Statistic: z.string() });
const together = z.tuple(
  [z.object({ Expression: z.string() })],
  z.object({ MetricStat: z.object({ Metric: metric, Period: z.number(), Stat: z.string() }) }),
);
const alarm = z.object({
  AlarmDescription: z.unknown(),
  ComparisonOperator: z.string(),
  DatapointsToAlarm: z.number(),
  EvaluationPeriods: z.number(),
  Threshold: z.number(),
  Metrics: together.optional(),
});

/** The alarms of a production stage with these settings, in the order of the template: that of the runbook's data. */
export function alarmsOf(settings: unknown): readonly TemplateAlarm[] {
  return synthesizeStage("prod", settings)
    .resources.filter(({ type }) => type === "AWS::CloudWatch::Alarm")
    .map(({ id, properties }) => readAlarm(id, properties));
}

/** @throws where it is none that lib/observability/alarm.ts makes */
export function readAlarm(logicalId: string, properties: Readonly<Record<string, unknown>>): TemplateAlarm {
  const parsed = alarm.parse(properties);
  const description = textOf(parsed.AlarmDescription);
  const entry = /docs\/operate\/runbook\.md#([a-z-]+)/.exec(description)?.[1];
  if (entry === undefined) throw new Error(`${logicalId}: its description names no entry of the runbook`);
  return {
    logicalId,
    entry,
    description,
    ...measured(properties, parsed.Metrics),
    evaluationPeriods: parsed.EvaluationPeriods,
    datapointsToAlarm: parsed.DatapointsToAlarm,
    threshold: parsed.Threshold,
    isLack: parsed.ComparisonOperator === "LessThanOrEqualToThreshold",
  };
}

function measured(
  properties: Readonly<Record<string, unknown>>,
  metrics: z.output<typeof together> | undefined,
): Pick<TemplateAlarm, "metrics" | "together" | "periodSeconds"> {
  if (metrics === undefined) {
    const { Namespace: namespace, MetricName: name, Period, Statistic: statistic } = alone.parse(properties);
    return { metrics: [{ namespace, name, statistic }], together: undefined, periodSeconds: Period };
  }
  const [{ Expression }, ...series] = metrics;
  return {
    metrics: series.map(({ MetricStat: { Metric, Stat } }) => ({
      namespace: Metric.Namespace,
      name: Metric.MetricName,
      statistic: Stat,
    })),
    together: Expression.startsWith("SUM") ? "sum" : "greatest",
    periodSeconds: series[0]?.MetricStat.Period ?? 0,
  };
}

/** A text with names of resources in it, as `…`. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  const parts: unknown = z
    .object({ "Fn::Join": z.tuple([z.literal(""), z.array(z.unknown())]) })
    .parse(value)["Fn::Join"][1];
  return z
    .array(z.unknown())
    .parse(parts)
    .map((part) => (typeof part === "string" ? part : "…"))
    .join("");
}
