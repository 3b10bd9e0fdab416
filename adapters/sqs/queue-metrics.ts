import type { CloudWatchClient } from "@aws-sdk/client-cloudwatch";
import { GetQueueAttributesCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { type MetricQuery, type Point, readMetrics } from "../aws/metric-points.ts";

/** Message counts by the start of a period, in seconds since 1970. */
export type Series = readonly (readonly [at: number, count: number])[];
export type QueueTraffic = { readonly sent: Series; readonly received: Series };

type Wanted = { readonly metric: string; readonly stat: "Sum" | "Maximum"; readonly period: number };

const minute = 60;
const hour = 60 * minute;
/** Maximum delay of CloudWatch. */
const lately = 15 * minute;
const twoWeeks = 14 * 24 * hour;

/**
 * Queue metrics that only CloudWatch has. SQS measures each queue that was used within six hours once a minute, free
 * of charge; CloudWatch is some minutes behind.
 * Source: SQS developer guide, "Available CloudWatch metrics for Amazon SQS".
 */
export function queueMetrics(client: CloudWatchClient, now: () => Date) {
  /** A metric's points for each queue in the last `seconds`, latest first. */
  const read = async (queueUrls: readonly string[], { metric, stat, period }: Wanted, seconds: number) => {
    const end = now().getTime() / 1000;
    const begin = Math.floor((end - seconds) / period) * period;
    const queries = queueUrls.map((url) => queryOf(url, { metric, stat, period }));
    const all = await readMetrics(client, queries, new Date(begin * 1000), new Date(end * 1000));
    return new Map(queueUrls.map((url, index) => [url, all[index] ?? []]));
  };
  /** When a metric was last above 0, for each queue. */
  const lastOf = async (metric: string, queueUrls: readonly string[]): Promise<ReadonlyMap<string, Date>> => {
    const [coarse, fine] = await Promise.all([
      read(queueUrls, { metric, stat: "Sum", period: hour }, twoWeeks),
      read(queueUrls, { metric, stat: "Sum", period: minute }, 3 * hour),
    ]);
    const latest = (points: readonly Point[]) => points.find(({ value }) => value > 0)?.at;
    return new Map([...mapped(coarse, latest), ...mapped(fine, latest)]);
  };
  return {
    /** Age of the oldest message in seconds, by queue. Queues without recent data are left out. */
    oldestAges: async (queueUrls: readonly string[]) => {
      const wanted = { metric: "ApproximateAgeOfOldestMessage", stat: "Maximum", period: minute } as const;
      return mapped(await read(queueUrls, wanted, lately), ([latest]) => latest?.value);
    },
    /**
     * When a message was last sent to each queue: to the minute within three hours, to the hour before that. Queues
     * without one in two weeks are left out.
     */
    lastSent: (queueUrls: readonly string[]) => lastOf("NumberOfMessagesSent", queueUrls),
    /** When each queue was last polled, successfully or not; as exact as `lastSent`. */
    lastAsked: async (queueUrls: readonly string[]) => {
      const names = ["NumberOfMessagesReceived", "NumberOfEmptyReceives"];
      const [received, inVain] = await Promise.all(names.map((metric) => lastOf(metric, queueUrls)));
      const last = new Map(received);
      for (const [url, at] of inVain ?? []) if (at > (last.get(url) ?? new Date(0))) last.set(url, at);
      return last;
    },
    /** Messages sent to and received from each queue, by the start of the period. Periods without any are left out. */
    traffic: async (queueUrls: readonly string[], seconds: number, period: number) => {
      const wanted = { stat: "Sum", period } as const;
      const [sent, received] = await Promise.all([
        read(queueUrls, { ...wanted, metric: "NumberOfMessagesSent" }, seconds),
        read(queueUrls, { ...wanted, metric: "NumberOfMessagesReceived" }, seconds),
      ]);
      return new Map(
        queueUrls.map((url) => [
          url,
          { sent: seriesOf(sent.get(url)), received: seriesOf(received.get(url)) },
        ]),
      );
    },
  };
}

function seriesOf(points: readonly Point[] = []): Series {
  return points
    .map(({ at, value }) => [at.getTime() / 1000, value] as const)
    .toSorted(([one], [other]) => one - other);
}

function queryOf(queueUrl: string, { metric, stat, period }: Wanted): MetricQuery {
  const Dimensions = [{ Name: "QueueName", Value: queueUrl.split("/").at(-1) ?? "" }];
  return { metric: { Namespace: "AWS/SQS", MetricName: metric, Dimensions }, stat, periodInSeconds: period };
}

function mapped<T>(
  points: ReadonlyMap<string, readonly Point[]>,
  pick: (points: readonly Point[]) => T | undefined,
): ReadonlyMap<string, T> {
  const found = new Map<string, T>();
  for (const [url, each] of points) {
    const value = pick(each);
    if (value !== undefined) found.set(url, value);
  }
  return found;
}

/** A queue's depth. All counts are approximate. */
export type QueueDepth = {
  /** Ready to be received, or delayed. */
  readonly waiting: number;
  /** Received, and neither deleted nor visible again. */
  readonly inFlight: number;
  /** How long the queue keeps a message. */
  readonly retentionSeconds: number;
};

export async function queueDepth(client: SQSClient, queueUrl: string): Promise<QueueDepth> {
  const { Attributes = {} } = await client.send(
    new GetQueueAttributesCommand({
      QueueUrl: queueUrl,
      AttributeNames: [
        "ApproximateNumberOfMessages",
        "ApproximateNumberOfMessagesDelayed",
        "ApproximateNumberOfMessagesNotVisible",
        "MessageRetentionPeriod",
      ],
    }),
  );
  const count = (name: keyof typeof Attributes) => Number(Attributes[name] ?? 0);
  return {
    waiting: count("ApproximateNumberOfMessages") + count("ApproximateNumberOfMessagesDelayed"),
    inFlight: count("ApproximateNumberOfMessagesNotVisible"),
    retentionSeconds: count("MessageRetentionPeriod"),
  };
}
