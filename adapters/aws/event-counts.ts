import { type CloudWatchClient, paginateGetMetricData } from "@aws-sdk/client-cloudwatch";

const hour = 3_600;
const hours = 24;

/**
 * How often events of each name were ignored in the last 24 hours, by the metric that the consumers' log lines make.
 * CloudWatch is some minutes behind.
 * @param names as many as one request takes: 500
 */
export async function countsByName(
  client: CloudWatchClient,
  Namespace: string,
  names: readonly string[],
  now: Date,
): Promise<ReadonlyMap<string, number>> {
  const end = now.getTime() / 1000;
  const begin = Math.floor(end / hour - hours + 1) * hour;
  const input = {
    MetricDataQueries: names.map((Value, index) => {
      const Metric = { Namespace, MetricName: "EventsIgnored", Dimensions: [{ Name: "EventName", Value }] };
      return { Id: `n${index}`, MetricStat: { Metric, Stat: "Sum", Period: hour } };
    }),
    StartTime: new Date(begin * 1000),
    EndTime: new Date(end * 1000),
  };
  const counts = new Map<string, number>();
  for await (const { MetricDataResults = [] } of paginateGetMetricData({ client }, input)) {
    for (const { Id = "", Values = [] } of MetricDataResults) {
      const name = names[Number(Id.slice(1))] ?? "";
      counts.set(
        name,
        Values.reduce((sum, value) => sum + value, counts.get(name) ?? 0),
      );
    }
  }
  return counts;
}
