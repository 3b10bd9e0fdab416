import { z } from "zod";
import { table } from "./markdown.ts";
import { alarmedStage } from "./stage-template.ts";

const metric = z.object({ MetricName: z.string() });
const joined = z
  .object({ "Fn::Join": z.tuple([z.literal(""), z.array(z.unknown())]) })
  .transform(({ "Fn::Join": [, parts] }) => parts.map((part) => (typeof part === "string" ? part : "…")));
const common = z.object({
  AlarmDescription: z.union([z.string(), joined.transform((parts) => parts.join(""))]),
  ComparisonOperator: z.string(),
  DatapointsToAlarm: z.number(),
  EvaluationPeriods: z.number(),
  Threshold: z.number(),
});
const alone = metric.extend({ Period: z.number(), Statistic: z.string() });
const together = z.tuple(
  [z.object({ Expression: z.string() })],
  z.object({ MetricStat: z.object({ Metric: metric, Period: z.number() }) }),
);
const alarm = z.union([common.extend(alone.shape), common.extend({ Metrics: together })]);

/**
 * Describes a CloudFormation alarm; `entry` is the heading of its runbook entry, with "-" for spaces.
 * @throws if it was not created by lib/observability/alarm.ts
 */
export function readAlarm(logicalId: string, properties: Readonly<Record<string, unknown>>) {
  const parsed = alarm.parse(properties);
  const description = parsed.AlarmDescription;
  const entry = /docs\/operate\/runbook\.md#([a-z-]+)/.exec(description)?.[1];
  if (entry === undefined) throw new Error(`${logicalId}: its description names no entry of the runbook`);
  return {
    logicalId,
    entry,
    description,
    ...measured(parsed),
    evaluationPeriods: parsed.EvaluationPeriods,
    datapointsToAlarm: parsed.DatapointsToAlarm,
    threshold: parsed.Threshold,
    isLack: parsed.ComparisonOperator === "LessThanOrEqualToThreshold",
  };
}

function measured(parsed: z.output<typeof alarm>) {
  if (!("Metrics" in parsed)) {
    const { MetricName, Statistic, Period } = parsed;
    return { metrics: [MetricName], value: Statistic === "Sum" ? "sum" : "most", periodSeconds: Period };
  }
  const [{ Expression }, ...series] = parsed.Metrics;
  return {
    metrics: series.map(({ MetricStat }) => MetricStat.Metric.MetricName),
    value: combinedBy(Expression),
    periodSeconds: series[0]?.MetricStat.Period ?? 0,
  };
}

function combinedBy(expression: string): "sum" | "greatest" | "first without second" {
  if (expression.startsWith("m0 > ")) return "first without second";
  return expression.startsWith("SUM") ? "sum" : "greatest";
}

/** Table of alarms in production with the default settings and one subscriber. */
export function alarmsTable(): string {
  const alarms = alarmedStage()
    .filter(({ type }) => type === "AWS::CloudWatch::Alarm")
    .map(({ id, properties }) => readAlarm(id, properties));
  const metrics = alarms.reduce((sum, { metrics: watched }) => sum + watched.length, 0);
  const ofSubscriber = alarms.filter(({ entry }) => entry.startsWith("subscriber-")).length;
  return `${table(["alarm", "raised when", "of"], alarms.map(row))}

${alarms.length} alarms watch ${metrics} metrics; each further subscriber brings ${ofSubscriber} alarms of one metric.`;
}

function row({ entry, metrics, value, periodSeconds, ...alarm }: ReturnType<typeof readAlarm>) {
  const isWithout = value === "first without second";
  const names = [...new Set(metrics)].map((name) => `\`${name}\``).join(isWithout ? ", " : " + ");
  const count = metrics.length === 1 ? "" : ` of ${metrics.length} metrics`;
  const times =
    alarm.evaluationPeriods === 1
      ? ""
      : `, in ${alarm.datapointsToAlarm} of ${alarm.evaluationPeriods} such times`;
  const compared = alarm.isLack ? "is at most" : "is at least";
  const breaches = isWithout
    ? `the first counts something and the second nothing in ${spanOf(periodSeconds)}`
    : `the ${value} in ${spanOf(periodSeconds)} ${compared} ${alarm.threshold}`;
  return [`[${entry.replaceAll("-", " ")}](runbook.md#${entry})`, `${breaches}${times}`, `${names}${count}`];
}

function spanOf(seconds: number): string {
  const [name, length] = seconds % 3_600 === 0 ? (["hour", 3_600] as const) : (["minute", 60] as const);
  const count = seconds / length;
  return count === 1 ? `1 ${name}` : `${count} ${name}s`;
}
