import { type CloudWatchClient, type Metric, paginateGetMetricData } from "@aws-sdk/client-cloudwatch";

const hour = 3_600;
const hours = 24;

/**
 * The sums of metrics in the last 24 hours, in their order. CloudWatch is some minutes behind.
 * @param metrics as many as one request takes: 500
 */
export async function sumsOfLastDay(
  client: CloudWatchClient,
  metrics: readonly Metric[],
  now: Date,
): Promise<readonly number[]> {
  const end = now.getTime() / 1000;
  const begin = Math.floor(end / hour - hours + 1) * hour;
  const input = {
    MetricDataQueries: metrics.map((Metric, index) => ({
      Id: `n${index}`,
      MetricStat: { Metric, Stat: "Sum", Period: hour },
    })),
    StartTime: new Date(begin * 1000),
    EndTime: new Date(end * 1000),
  };
  const sums = metrics.map(() => 0);
  for await (const { MetricDataResults = [] } of paginateGetMetricData({ client }, input)) {
    for (const { Id = "", Values = [] } of MetricDataResults) {
      const index = Number(Id.slice(1));
      sums[index] = Values.reduce((sum, value) => sum + value, sums[index] ?? 0);
    }
  }
  return sums;
}
