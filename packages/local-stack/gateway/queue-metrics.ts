import { type EngineClient, type QueueSummary, queueSummary } from "../engines/engine-client.ts";
import { queuePath } from "../engines/queues-and-objects.ts";
import type { Answer } from "../http-server.ts";
import { beginOf, createMinuteCounts, type MetricRange } from "./minute-counts.ts";
import { type Operation, parseJsonObject } from "./operation.ts";

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
 * @param sqs the queue engine, which reports its messages without receiving them
 * @param now milliseconds since 1970
 */
export function createQueueMetrics(sqs: EngineClient, now: () => number) {
  const counts = createMinuteCounts(now);
  return {
    onAnswer: (operation: Operation, answer: Answer): void => {
      if (operation.service !== "sqs" || answer.status !== 200) return;
      const queueName = operation.needs[0]?.resource.split(":").at(-1);
      const found = countOf(operation.action, answer);
      if (found !== undefined) counts.add(`${queueName} ${found.metric}`, found.value);
    },
    /** Current value of a gauge; undefined if the metric is not a gauge or has no value. */
    gauge: async (queueName: string, metric: string): Promise<number | undefined> => {
      const visibility = visibilities.get(metric);
      if (visibility === undefined && metric !== age) return undefined;
      const held = await heldBy(sqs, queueName);
      if (visibility !== undefined) return held?.[visibility];
      const sent = held?.oldestSent;
      return sent === undefined ? undefined : Math.max(0, Math.floor((now() - sent) / 1000));
    },
    /** Values of a metric by period start. */
    values: async (
      queueName: string,
      metric: QueueMetricName,
      { from, to, period }: MetricRange,
    ): Promise<ReadonlyMap<number, number>> => {
      if (metric !== age) return counts.sums(`${queueName} ${metric}`, { from, to, period });
      const sent = (await heldBy(sqs, queueName))?.oldestSent;
      const seconds = now() / 1000;
      // Only the current age is known; past ages are not kept. A range that ends "now" has just ended.
      const at = beginOf(Math.min(seconds, to - 0.001), period);
      if (sent === undefined || at < from || seconds - to > toleratedSeconds) return new Map();
      return new Map([[at, Math.max(0, Math.floor((now() - sent) / 1000))]]);
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
  const list = parseJsonObject(body.toString())[field];
  return Array.isArray(list) ? list.length : 0;
}

const visibilities = new Map<string, "ready" | "delayed" | "inflight">([
  ["ApproximateNumberOfMessagesVisible", "ready"],
  ["ApproximateNumberOfMessagesDelayed", "delayed"],
  ["ApproximateNumberOfMessagesNotVisible", "inflight"],
]);

/**
 * Asks the engine without receiving messages.
 * @returns undefined if the queue does not exist
 */
async function heldBy(sqs: EngineClient, queueName: string): Promise<QueueSummary | undefined> {
  const target = `${queuePath}${encodeURIComponent(queueName)}`;
  const answer = await sqs.send({ method: "GET", target, headers: {}, body: Buffer.alloc(0) });
  return answer.status === 200 ? queueSummary.parse(JSON.parse(answer.body.toString())) : undefined;
}
