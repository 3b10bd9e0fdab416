import type { CloudWatchClient, Metric } from "@aws-sdk/client-cloudwatch";
import { retryable } from "../../domain/core/failures.ts";
import {
  countsNeededFrom,
  halfGapInMillis,
  type MissedSettings,
  type ReceivingCounts,
  type Sums,
} from "../../domain/reconcile/missed.ts";
import { readMetrics } from "./metric-points.ts";

export type ReceivingMetrics = {
  /** Namespace of the metrics that are derived from log lines. */
  readonly namespace: string;
  /** Metric of requests answered with 429. */
  readonly throttled: string;
  /**
   * Metric of requests answered with 503 for a body that a retry does not change. Such a request triggers a run
   * itself.
   */
  readonly notKept: string;
  readonly apiId: string;
  /** Requests of the canary in half a gap, at most; 0 without a canary. */
  readonly canaries: number;
};

type Query = { readonly metric: Metric; readonly periodInMillis: number; readonly sign: 1 | -1 };

/**
 * Reads the API's metrics. CloudWatch bills each query: one if there were no requests, three more if there were, and a
 * fifth if webhooks failed.
 * Source: CloudWatch API reference, "GetMetricData"; API Gateway developer guide, "Monitor CloudWatch metrics for
 * HTTP APIs".
 * @throws retryable failure if CloudWatch does not answer
 */
export async function receivingCounts(
  client: CloudWatchClient,
  { namespace, throttled, notKept, apiId, canaries }: ReceivingMetrics,
  settings: MissedSettings,
  now: Date,
): Promise<ReceivingCounts> {
  const minute = settings.minuteInMillis;
  const ofLines = (MetricName: string): Metric => ({ Namespace: namespace, MetricName });
  const ofApi = (MetricName: string): Metric => {
    return { Namespace: "AWS/ApiGateway", MetricName, Dimensions: [{ Name: "ApiId", Value: apiId }] };
  };
  const read = (...queries: readonly Query[]) => sumsOf(client, queries, settings, now);
  const byMinute = { periodInMillis: minute, sign: 1 } as const;
  const byHalfGap = { periodInMillis: halfGapInMillis(settings), sign: 1 } as const;
  const [came = new Map()] = await read({ ...byHalfGap, metric: ofApi("Count") });
  // Without requests there are neither failures nor gaps.
  if (came.size === 0) return { unanswered: new Map(), accepted: new Map() };
  const [failed = new Map(), throttles = new Map(), refused = new Map()] = await read(
    { ...byMinute, metric: ofApi("5xx") },
    { ...byMinute, metric: ofLines(throttled) },
    { ...byHalfGap, metric: ofApi("4xx"), sign: -1 },
  );
  const [explained = new Map()] =
    failed.size === 0 ? [] : await read({ ...byMinute, metric: ofLines(notKept), sign: -1 });
  // The canary's requests would hide that no other ones come.
  const accepted = [...together(came, refused)].map(
    ([at, count]) => [at, Math.max(0, count - canaries)] as const,
  );
  return { unanswered: together(failed, throttles, explained), accepted: new Map(accepted) };
}

async function sumsOf(
  client: CloudWatchClient,
  queries: readonly Query[],
  settings: MissedSettings,
  now: Date,
): Promise<readonly Sums[]> {
  const asked = queries.map(({ metric, periodInMillis }) => {
    return { metric, stat: "Sum", periodInSeconds: periodInMillis / 1_000 } as const;
  });
  const from = new Date(countsNeededFrom(now.getTime(), settings));
  const found = await readMetrics(client, asked, from, now).catch((error: unknown) => {
    const name = error instanceof Error ? error.name : "unknown";
    throw retryable(`CloudWatch does not tell what was received (${name})`);
  });
  return found.map(
    (points, index) =>
      new Map(points.map(({ at, value }) => [at.getTime(), (queries[index]?.sign ?? 1) * value])),
  );
}

function together(...all: readonly Sums[]): Sums {
  const sums = new Map<number, number>();
  for (const one of all) for (const [at, value] of one) sums.set(at, (sums.get(at) ?? 0) + value);
  return sums;
}
