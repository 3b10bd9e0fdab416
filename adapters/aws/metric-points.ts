import { type CloudWatchClient, type Metric, paginateGetMetricData } from "@aws-sdk/client-cloudwatch";
import { batchesOf } from "../../domain/core/batches.ts";

export type MetricQuery = {
  readonly metric: Metric;
  readonly stat: "Sum" | "Maximum" | "p50" | "p99";
  readonly periodInSeconds: number;
};

export type Point = { readonly at: Date; readonly value: number };

const hour = 3_600;
const hours = 24;
/** CloudWatch's limit of queries in a request. Source: CloudWatch API reference, "GetMetricData". */
const queriesAtOnce = 500;

/** The points of each query between two times, latest first. CloudWatch is some minutes behind. */
export async function readMetrics(
  client: CloudWatchClient,
  queries: readonly MetricQuery[],
  from: Date,
  until: Date,
): Promise<readonly (readonly Point[])[]> {
  const found: Point[][] = [];
  for (const batch of batchesOf(queries, { maxItems: queriesAtOnce })) {
    const points = batch.map((): Point[] => []);
    const input = {
      MetricDataQueries: batch.map(({ metric, stat, periodInSeconds }, index) => {
        return { Id: `q${index}`, MetricStat: { Metric: metric, Stat: stat, Period: periodInSeconds } };
      }),
      StartTime: from,
      EndTime: until,
    };
    for await (const { MetricDataResults = [] } of paginateGetMetricData({ client }, input)) {
      for (const { Id = "", Timestamps = [], Values = [] } of MetricDataResults)
        points[Number(Id.slice(1))]?.push(
          ...Timestamps.map((at, index) => ({ at, value: Values[index] ?? 0 })),
        );
    }
    found.push(...points);
  }
  return found;
}

/** The sum of each metric over the last 24 hours, in order. */
export async function sumsOfLastDay(
  client: CloudWatchClient,
  metrics: readonly Metric[],
  now: Date,
): Promise<readonly number[]> {
  const begin = Math.floor(now.getTime() / 1000 / hour - hours + 1) * hour;
  const queries = metrics.map((metric) => ({ metric, stat: "Sum", periodInSeconds: hour }) as const);
  const all = await readMetrics(client, queries, new Date(begin * 1000), now);
  return all.map((points) => points.reduce((sum, { value }) => sum + value, 0));
}
