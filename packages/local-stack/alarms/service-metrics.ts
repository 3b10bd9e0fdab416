import type { MetricPlan } from "../assembly/plan.ts";

/**
 * What this machine measures as AWS's services do, by namespace and dimension. Sources: the services' own guides,
 * "metrics and dimensions" (Lambda, SQS, API Gateway for HTTP APIs, DynamoDB).
 */
const serviceMetrics: Readonly<Record<string, readonly string[]>> = {
  "AWS/Lambda FunctionName": ["Invocations", "Errors", "Throttles", "IteratorAge", "Url5xxCount"],
  "AWS/Lambda EventSourceMappingUUID": [
    "InvokedEventCount",
    "FailedInvokeEventCount",
    "OnFailureDestinationDeliveredEventCount",
    "DroppedEventCount",
  ],
  "AWS/SQS QueueName": [
    "ApproximateAgeOfOldestMessage",
    "ApproximateNumberOfMessagesVisible",
    "ApproximateNumberOfMessagesDelayed",
    "ApproximateNumberOfMessagesNotVisible",
  ],
  "AWS/ApiGateway ApiId": ["Count", "4xx", "5xx"],
  "AWS/DynamoDB TableName": ["ReadThrottleEvents", "WriteThrottleEvents"],
};

/** Whether the metric is measured here, provided that its dimension names something of the stack. */
export function isServiceMetric({ namespace, name, dimensions }: MetricPlan): boolean {
  const [dimension, ...others] = Object.keys(dimensions);
  if (dimension === undefined || others.length > 0) return false;
  return serviceMetrics[`${namespace} ${dimension}`]?.includes(name) ?? false;
}

/** For people: all that can be watched here. */
export function knownServiceMetrics(): string {
  return Object.entries(serviceMetrics)
    .map(([by, names]) => `${by.replace(" ", " by ")}: ${names.join(", ")}`)
    .join("; ");
}

/** What is measured when it is looked at, not when it happens. */
export function isGauge({ namespace }: MetricPlan): boolean {
  return namespace === "AWS/SQS";
}
