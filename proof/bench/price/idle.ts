import { z } from "zod";
import type { Resource } from "../../../scripts/documents/stage-template.ts";
import { prices } from "./prices.ts";

/** What exists or runs without events: how many, and what they cost in a month. */
export type IdleLine = { readonly name: string; readonly count: number; readonly dollars: number };

const alarm = z.object({ Metrics: z.array(z.object({ MetricStat: z.unknown().optional() })).optional() });
const metricFilter = z.object({
  MetricTransformations: z.array(z.object({ MetricNamespace: z.string(), MetricName: z.string() })),
});

const secondsAMonth = 30 * 86_400;
/** Source: Lambda developer guide, "Configuring scaling behavior for SQS event source mappings"; long polls of 20 s. */
const [pollersPerQueue, pollSeconds] = [5, 20];
const pollsAMonth = (pollersPerQueue * secondsAMonth) / pollSeconds;

/** The bill of a month without events, but for the cents of scheduled runs. */
export function idleOf(resources: readonly Resource[]): readonly IdleLine[] {
  const line = (name: string, count: number, price: number) => ({ name, count, dollars: count * price });
  const countOf = (type: string) => resources.filter((each) => each.type === type).length;
  const alarms = resources.filter(({ type }) => type === "AWS::CloudWatch::Alarm");
  const sources = queueSourcesIn(resources);
  const fifoSources = sources.filter((source) => isOfFifo(source, resources)).length;
  const standardSources = sources.length - fifoSources;
  const { alarmMonth, metricMonth, compositeAlarmMonth, dashboardMonth, secretMonth } = prices;
  return [
    line("Secrets Manager, secrets", countOf("AWS::SecretsManager::Secret"), secretMonth),
    line("CloudWatch, metrics of alarms", sumOf(alarms.map(metricsOf)), alarmMonth),
    line("CloudWatch, custom metrics, while they have values", customMetrics(resources).size, metricMonth),
    line("CloudWatch, composite alarms", countOf("AWS::CloudWatch::CompositeAlarm"), compositeAlarmMonth),
    line("CloudWatch, dashboards", countOf("AWS::CloudWatch::Dashboard"), dashboardMonth),
    {
      name: "SQS, empty receives of event sources",
      count: sources.length * pollsAMonth,
      dollars: pollsAMonth * (standardSources * prices.sqsRequest + fifoSources * prices.sqsFifoRequest),
    },
  ];
}

export function sumOf(values: readonly number[]): number {
  return values.reduce((sum, each) => sum + each, 0);
}

/** Event sources of queues; reading the stream is free. */
export function queueSourcesIn(resources: readonly Resource[]): readonly Resource[] {
  return resources.filter(
    ({ type, properties }) =>
      type === "AWS::Lambda::EventSourceMapping" && properties.StartingPosition === undefined,
  );
}

const ofQueue = z.object({ "Fn::GetAtt": z.tuple([z.string(), z.literal("Arn")]) });

function isOfFifo({ properties }: Resource, resources: readonly Resource[]): boolean {
  const [queueId] = ofQueue.parse(properties.EventSourceArn)["Fn::GetAtt"];
  return resources.some(({ id, properties: queue }) => id === queueId && queue.FifoQueue === true);
}

function metricsOf({ properties }: Resource): number {
  const { Metrics = [] } = alarm.parse(properties);
  return Math.max(1, Metrics.filter(({ MetricStat }) => MetricStat !== undefined).length);
}

function customMetrics(resources: readonly Resource[]): ReadonlySet<string> {
  const filters = resources.filter(({ type }) => type === "AWS::Logs::MetricFilter");
  return new Set(
    filters.flatMap(({ properties }) =>
      metricFilter
        .parse(properties)
        .MetricTransformations.map(({ MetricNamespace, MetricName }) => `${MetricNamespace} ${MetricName}`),
    ),
  );
}

/** Our resources that the design by hand has too: it receives, stores, relays, fetches and keeps a token, on standard queues. */
export function typicalOf(resources: readonly Resource[]): readonly Resource[] {
  const watches = [
    "AWS::CloudWatch::Alarm",
    "AWS::CloudWatch::CompositeAlarm",
    "AWS::CloudWatch::Dashboard",
    "AWS::Logs::MetricFilter",
  ];
  const has =
    /^(Token|Webhook|Events|Api|Users|Accounts|Endpoints|CompanyAccounts|Fetch(?!Checks)|Subscriber|Relay|Refresh)/;
  return resources
    .filter(({ id, type }) => has.test(id) && !watches.includes(type))
    .map(({ properties: { FifoQueue: _, ...properties }, ...resource }) => ({ ...resource, properties }));
}
