import type { QueueEngine } from "../engines/queues-and-objects.ts";
import type { Answer } from "../http-server.ts";
import { beginOf, createMinuteCounts, type MetricRange } from "./minute-counts.ts";
import { asList, type Operation, parseJsonObject } from "./operation.ts";

/** Metrics of AWS/SQS that are measured here; each has the dimension QueueName. */
const counted = ["NumberOfMessagesSent", "NumberOfMessagesReceived", "NumberOfEmptyReceives"] as const;
/** A period that ended at most this long ago counts as current. */
const toleratedSeconds = 120;
const age = "ApproximateAgeOfOldestMessage";
export const queueMetricNames = [...counted, age] as const;
export type QueueMetricName = (typeof queueMetricNames)[number];

export type QueueMetrics = ReturnType<typeof createQueueMetrics>;

/**
 * Source: SQS developer guide, "Available CloudWatch metrics for Amazon SQS".
 * @param now milliseconds since 1970
 */
export function createQueueMetrics(sqs: QueueEngine, now: () => number) {
  const counts = createMinuteCounts(now);
  const ageOf = (queueName: string): number | undefined => {
    const sent = sqs.summary(queueName)?.oldestSent;
    return sent === undefined ? undefined : Math.max(0, Math.floor((now() - sent) / 1000));
  };
  return {
    onAnswer: (operation: Operation, answer: Answer): void => {
      if (operation.service !== "sqs" || answer.status !== 200) return;
      const queueName = operation.needs[0]?.resource.split(":").at(-1);
      const found = countOf(operation.action, answer);
      if (found !== undefined) counts.add(`${queueName} ${found.metric}`, found.value);
    },
    /** Current value of a gauge; undefined if the metric is not a gauge or has no value. */
    gauge: (queueName: string, metric: string): number | undefined => {
      if (metric === age) return ageOf(queueName);
      const visibility = visibilities.get(metric);
      return visibility && sqs.summary(queueName)?.[visibility];
    },
    /** Values of a metric by period start. */
    values: (
      queueName: string,
      metric: QueueMetricName,
      { from, to, period }: MetricRange,
    ): ReadonlyMap<number, number> => {
      if (metric !== age) return counts.sums(`${queueName} ${metric}`, { from, to, period });
      const current = ageOf(queueName);
      const seconds = now() / 1000;
      // Only the current age is known; past ages are not kept. A range that ends "now" has just ended.
      const at = beginOf(Math.min(seconds, to - 0.001), period);
      const isPast = at < from || seconds - to > toleratedSeconds;
      return current === undefined || isPast ? new Map() : new Map([[at, current]]);
    },
  };
}

function countOf(
  action: string,
  { body }: Answer,
): { readonly metric: QueueMetricName; readonly value: number } | undefined {
  switch (action) {
    case "sqs:SendMessage":
      return { metric: "NumberOfMessagesSent", value: 1 };
    case "sqs:SendMessageBatch":
      return { metric: "NumberOfMessagesSent", value: lengthOf(body, "Successful") };
    case "sqs:ReceiveMessage": {
      const received = lengthOf(body, "Messages");
      return received === 0
        ? { metric: "NumberOfEmptyReceives", value: 1 }
        : { metric: "NumberOfMessagesReceived", value: received };
    }
    default:
      return undefined;
  }
}

function lengthOf(body: Buffer, field: string): number {
  return asList(parseJsonObject(body.toString())[field]).length;
}

const visibilities = new Map<string, "ready" | "delayed" | "inflight">([
  ["ApproximateNumberOfMessagesVisible", "ready"],
  ["ApproximateNumberOfMessagesDelayed", "delayed"],
  ["ApproximateNumberOfMessagesNotVisible", "inflight"],
]);
