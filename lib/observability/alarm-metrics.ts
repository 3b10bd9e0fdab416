import * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";
import { MathExpression, type Metric } from "aws-cdk-lib/aws-cloudwatch";
import type * as lambda from "aws-cdk-lib/aws-lambda";
import type { WorkQueue } from "../receiving/work-queue.ts";
import { type HoursOfWeek, readHoursOfWeek } from "../settings/hours-of-week.ts";

/** What an alarm watches: one metric, or a combination of up to ten (CloudWatch's limit). */
export type AlarmMetric = Metric | MathExpression;

/** Sum of several metrics; a missing value counts as 0. */
export function sumOf(metrics: readonly Metric[]): MathExpression {
  return together("SUM", metrics);
}

/** Maximum of several metrics; a missing value counts as 0. */
export function greatestOf(metrics: readonly Metric[]): MathExpression {
  return together("MAX", metrics);
}

function together(what: "SUM" | "MAX", metrics: readonly Metric[]): MathExpression {
  return new MathExpression({
    expression: `${what}(FILL(METRICS(), 0))`,
    usingMetrics: Object.fromEntries(metrics.map((metric, index) => [`m${index}`, metric])),
  });
}

/**
 * 1 in periods in which the first metric counts something and the second nothing, otherwise 0. Both arithmetic and a
 * comparison of two metrics treat missing values as 0, also those of a metric that has none at all.
 * Source: CloudWatch user guide, "Using math expressions with CloudWatch metrics".
 */
export function firstWithoutSecond(first: Metric, second: Metric): MathExpression {
  return new MathExpression({ expression: "m0 > m0 * m1", usingMetrics: { m0: first, m1: second } });
}

/**
 * A metric within some hours of the week; outside them the value is always 1.
 * Source: CloudWatch user guide, "Using math expressions with CloudWatch metrics": DAY (1 is Monday) and HOUR are in
 * UTC.
 */
export function duringHours(metric: Metric, hours: HoursOfWeek): MathExpression {
  const { firstDay, lastDay, from, to } = readHoursOfWeek(hours);
  const days = `DAY(m0) >= ${firstDay} AND DAY(m0) <= ${lastDay}`;
  return new MathExpression({
    expression: `IF(${days} AND HOUR(m0) >= ${from} AND HOUR(m0) < ${to}, m0, 1)`,
    usingMetrics: { m0: metric },
  });
}

/** Age in seconds of the oldest message that waits or is in flight. */
export function oldestMessage({ queue }: WorkQueue): Metric {
  return queue.metricApproximateAgeOfOldestMessage({ statistic: "Maximum" });
}

/** Number of waiting dead letters. SQS's count of sent messages omits those that SQS moves by itself. */
export function deadLetters({ deadLetterQueue }: WorkQueue): Metric {
  return deadLetterQueue.metricApproximateNumberOfMessagesVisible({ statistic: "Maximum" });
}

/** A metric that Lambda records without charge for an event source mapping that requests event counts. */
export function ofEventSource(EventSourceMappingUUID: string, metricName: string): Metric {
  return new cloudwatch.Metric({
    namespace: "AWS/Lambda",
    metricName,
    dimensionsMap: { EventSourceMappingUUID },
    statistic: "Sum",
  });
}

/**
 * Failed events: the function threw, timed out, or reported them as failed items. `Errors` does not count failed items.
 * Source: Lambda developer guide, "Types of metrics for Lambda functions".
 */
export function failedEvents({ eventSourceMappingId }: lambda.EventSourceMapping): Metric {
  return ofEventSource(eventSourceMappingId, "FailedInvokeEventCount");
}

/** Command that shows the warnings and errors of the functions. */
export function logsSince(since: string): string {
  return `npx income-events logs --level WARN --since ${since}`;
}
