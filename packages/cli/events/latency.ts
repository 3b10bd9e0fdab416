import { readMetrics } from "../../../adapters/aws/metric-points.ts";
import { latencyMetrics } from "../../../domain/event/events.ts";
import type { Place } from "../core/command.ts";

/** Seconds from a webhook's receipt; undefined without events. */
type Percentiles = { readonly p50?: number; readonly p99?: number };

export type Latency = {
  /** Until the event's message is on the subscribers' queues. */
  readonly toSubscriber: Percentiles;
  /** Until the announced document is stored. */
  readonly toDocument: Percentiles;
};

/** Each query of GetMetricData is billed. */
export const latencyQueries = 4;

const periodInSeconds = 900;

/**
 * The latency of the last 15 minutes, or of the 15 before: CloudWatch's periods start at each quarter of an
 * hour.
 */
export async function readLatency({ deployment, clients }: Place, now: Date): Promise<Latency> {
  const Namespace = deployment.output("MetricsNamespace");
  const queries = [latencyMetrics.toSubscriber, latencyMetrics.toDocument].flatMap((MetricName) =>
    (["p50", "p99"] as const).map((stat) => ({ metric: { Namespace, MetricName }, stat, periodInSeconds })),
  );
  const quarter = Math.floor(now.getTime() / 1_000 / periodInSeconds) * periodInSeconds;
  const from = new Date((quarter - periodInSeconds) * 1_000);
  const values = await readMetrics(clients.cloudWatch, queries, from, now);
  const percentilesAt = (at: number): Percentiles => {
    const [p50, p99] = values.slice(at, at + 2).map(([latest]) => latest && latest.value / 1_000);
    return p50 === undefined || p99 === undefined ? {} : { p50, p99 };
  };
  return { toSubscriber: percentilesAt(0), toDocument: percentilesAt(2) };
}
