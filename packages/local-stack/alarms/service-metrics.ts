import type { MetricPlan } from "../assembly/plan.ts";

/**
 * AWS service metrics that this machine measures, by namespace and dimension. Sources: the "metrics and
 * dimensions" pages of Lambda, SQS, API Gateway for HTTP APIs, and DynamoDB.
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

/** Whether the metric is measured here, if its dimension names a resource of the stack. */
export function isServiceMetric({ namespace, name, dimensions }: MetricPlan): boolean {
  const [dimension, ...others] = Object.keys(dimensions);
  if (dimension === undefined || others.length > 0) return false;
  return serviceMetrics[`${namespace} ${dimension}`]?.includes(name) ?? false;
}

export function knownServiceMetrics(): string {
  return Object.entries(serviceMetrics)
    .map(([by, names]) => `${by.replace(" ", " by ")}: ${names.join(", ")}`)
    .join("; ");
}

/** Whether the metric is polled rather than recorded when something happens. */
export function isGauge({ namespace }: MetricPlan): boolean {
  return namespace === "AWS/SQS";
}
