import * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";
import { MathExpression, type Metric } from "aws-cdk-lib/aws-cloudwatch";
import type * as lambda from "aws-cdk-lib/aws-lambda";
import type { PipelineFunction } from "../function/pipeline-function.ts";
import type { WorkQueue } from "../receiving/work-queue.ts";
import { type HoursOfWeek, readHoursOfWeek } from "../settings/hours-of-week.ts";

/** What an alarm watches: one metric, or up to ten taken together (CloudWatch's limit). */
export type AlarmMetric = Metric | MathExpression;

/** The sum of several metrics, in which one that was not measured counts as 0. */
export function sumOf(metrics: readonly Metric[]): MathExpression {
  return together("SUM", metrics);
}

/** The greatest of several metrics, in which one that was not measured counts as 0. */
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
 * A metric within some hours of the week; outside of them it is 1, whatever was measured.
 * Source: CloudWatch user guide, "Using math expressions with CloudWatch metrics": DAY (1 is Monday) and HOUR are in UTC.
 */
export function duringHours(metric: Metric, hours: HoursOfWeek): MathExpression {
  const { firstDay, lastDay, from, to } = readHoursOfWeek(hours);
  const days = `DAY(m0) >= ${firstDay} AND DAY(m0) <= ${lastDay}`;
  return new MathExpression({
    expression: `IF(${days} AND HOUR(m0) >= ${from} AND HOUR(m0) < ${to}, m0, 1)`,
    usingMetrics: { m0: metric },
  });
}

/** The age of the oldest message that waits or is worked on, in seconds. */
export function oldestMessage({ queue }: WorkQueue): Metric {
  return queue.metricApproximateAgeOfOldestMessage({ statistic: "Maximum" });
}

/** Dead dead letters that wait. (What SQS moves there itself is not counted as sent.) */
export function deadLetters({ deadLetterQueue }: WorkQueue): Metric {
  return deadLetterQueue.metricApproximateNumberOfMessagesVisible({ statistic: "Maximum" });
}

/** A metric that Lambda keeps of an event source mapping which asks for counts of events, at no charge. */
export function ofEventSource(EventSourceMappingUUID: string, metricName: string): Metric {
  return new cloudwatch.Metric({
    namespace: "AWS/Lambda",
    metricName,
    dimensionsMap: { EventSourceMappingUUID },
    statistic: "Sum",
  });
}

/**
 * Events that failed: the function threw or ran out of time, or its response names them. `Errors` of a function that answers
 * with failed items counts no failure. Source: Lambda developer guide, "Types of metrics for Lambda functions".
 */
export function failedEvents({ eventSourceMappingId }: lambda.EventSourceMapping): Metric {
  return ofEventSource(eventSourceMappingId, "FailedInvokeEventCount");
}

/** How to look into what a function logged. */
export function tailOf({ logGroup }: PipelineFunction, since: string): string {
  return `aws logs tail ${logGroup.logGroupName} --since ${since}`;
}
