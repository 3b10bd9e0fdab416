import { z } from "zod";
import { latencyMetrics } from "../../../domain/event/events.ts";
import type { Resource } from "../../../scripts/documents/stage-template.ts";
import { prices } from "./prices.ts";

/** Monthly cost of a resource without events: count and US dollars. */
export type IdleLine = { readonly name: string; readonly count: number; readonly dollars: number };

/**
 * Hours per month in which an idle stage's schedules log lines that a metric filter counts. A custom metric
 * is billed for the hours in which it has values ("prorated by the hour and metered only when you send
 * metrics").
 */
const hoursAMonth = 720;
const hoursAtRest: Readonly<Record<string, number>> = {
  '{ $.function = "refresh/token" }': hoursAMonth,
  // Daily.
  '{ $.code = "RECONCILED" }': 30,
};

const alarm = z.object({ Metrics: z.array(z.object({ MetricStat: z.unknown().optional() })).optional() });
const metricFilter = z.object({
  FilterPattern: z.string(),
  MetricTransformations: z.array(z.object({ MetricNamespace: z.string(), MetricName: z.string() })),
});

const secondsAMonth = 30 * 86_400;
/**
 * Source: Lambda developer guide, "Configuring scaling behavior for SQS event source mappings"; long polls of
 * 20 s.
 */
const [pollersPerQueue, pollSeconds] = [5, 20];
const pollsAMonth = (pollersPerQueue * secondsAMonth) / pollSeconds;

/** Dead-letter queues are checked one by one. */
export const requestOfQueues = "sqs:ReceiveMessage";

/**
 * Requests of a scheduled run of an idle stage, by the start of its rule's id: the stage has a token, and has
 * received nothing. Daily runs are left out. test/e2e/first-hour.e2e.test.ts counts the others.
 */
export const requestsAtRest: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  RefreshSchedule: { "secretsmanager:GetSecretValue": 2, "dynamodb:GetItem": 1 },
  ReconcileSchedule: { "cloudwatch:GetMetricData": 1, "dynamodb:GetItem": 2, "dynamodb:Query": 1 },
  RelayResend: { "s3:ListObjectsV2": 1 },
  ArchiveSchedule: { [requestOfQueues]: 1 },
  RegisterSchedule: {},
};

/** An assumption: each run has a new environment, which imports its code on a share of a processor. */
const secondsARun = 1;

const ofResource = z.object({ "Fn::GetAtt": z.tuple([z.string(), z.literal("Arn")]) });
const rule = z.object({
  ScheduleExpression: z.string(),
  Targets: z.tuple([z.object({ Arn: ofResource })]),
});
const lambda = z.object({ MemorySize: z.number() });

/** Resources used by a month's scheduled runs. */
function scheduledRuns(resources: readonly Resource[]) {
  const queues = resources.filter(({ id, type }) => type === "AWS::SQS::Queue" && id.includes("DeadLetters"));
  const requests = new Map<string, number>();
  let [runs, gigabyteSeconds] = [0, 0];
  for (const { id, properties } of resources.filter(({ type }) => type === "AWS::Events::Rule")) {
    const { ScheduleExpression, Targets } = rule.parse(properties);
    const [, ofRun] = Object.entries(requestsAtRest).find(([start]) => id.startsWith(start)) ?? [];
    if (ofRun === undefined) throw new Error(`What ${id} requests at rest was never counted`);
    const [functionId] = Targets[0].Arn["Fn::GetAtt"];
    const target = resources.find((each) => each.id === functionId);
    const count = (hoursAMonth * 60) / minutesOf(ScheduleExpression);
    runs += count;
    gigabyteSeconds += (count * secondsARun * lambda.parse(target?.properties).MemorySize) / 1_024;
    for (const [action, times] of Object.entries(ofRun)) {
      const factor = action === requestOfQueues ? queues.length : 1;
      requests.set(action, (requests.get(action) ?? 0) + count * times * factor);
    }
  }
  return { runs, gigabyteSeconds, requests };
}

function minutesOf(expression: string): number {
  const [, count = "", unit = ""] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  const minutes = { minute: 1, hour: 60, day: 1_440 }[unit];
  if (minutes === undefined) throw new Error(`${expression} is no rate`);
  return Number(count) * minutes;
}

/** Bill of a month without events. */
export function idleOf(resources: readonly Resource[]): readonly IdleLine[] {
  const line = (name: string, count: number, price: number) => ({ name, count, dollars: count * price });
  const countOf = (type: string) => resources.filter((each) => each.type === type).length;
  const alarms = resources.filter(({ type }) => type === "AWS::CloudWatch::Alarm");
  const sources = queueSourcesIn(resources);
  const fifoSources = sources.filter((source) => isOfFifo(source, resources)).length;
  const standardSources = sources.length - fifoSources;
  const { alarmMonth, metricMonth, compositeAlarmMonth, dashboardMonth, secretMonth } = prices;
  const { runs, gigabyteSeconds, requests } = scheduledRuns(resources);
  const requestsOf = (action: string) => requests.get(action) ?? 0;
  const reads = requestsOf("dynamodb:GetItem") + requestsOf("dynamodb:Query");
  const receives = requestsOf(requestOfQueues);
  return [
    line("Secrets Manager, secrets", countOf("AWS::SecretsManager::Secret"), secretMonth),
    line("CloudWatch, metrics of alarms", sumOf(alarms.map(metricsOf)), alarmMonth),
    line("CloudWatch, custom metrics, for the hours with values", metricMonths(resources), metricMonth),
    line("CloudWatch, composite alarms", countOf("AWS::CloudWatch::CompositeAlarm"), compositeAlarmMonth),
    line("CloudWatch, dashboards", countOf("AWS::CloudWatch::Dashboard"), dashboardMonth),
    {
      name: "SQS, empty receives of event sources",
      count: sources.length * pollsAMonth,
      dollars: pollsAMonth * (standardSources * prices.sqsRequest + fifoSources * prices.sqsFifoRequest),
    },
    {
      name: "Lambda, scheduled runs",
      count: runs,
      dollars: runs * prices.lambdaRequest + gigabyteSeconds * prices.lambdaGigabyteSecond,
    },
    line(
      "CloudWatch, metrics that reconciliation reads",
      requestsOf("cloudwatch:GetMetricData"),
      prices.metricRead,
    ),
    line("S3, lists of parked messages", requestsOf("s3:ListObjectsV2"), prices.objectPut),
    line("Secrets Manager, reads", requestsOf("secretsmanager:GetSecretValue"), prices.secretRead),
    {
      name: "SQS and DynamoDB, requests of scheduled runs",
      count: receives + reads,
      dollars: receives * prices.sqsRequest + reads * prices.readUnit,
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

function isOfFifo({ properties }: Resource, resources: readonly Resource[]): boolean {
  const [queueId] = ofResource.parse(properties.EventSourceArn)["Fn::GetAtt"];
  return resources.some(({ id, properties: queue }) => id === queueId && queue.FifoQueue === true);
}

function metricsOf({ properties }: Resource): number {
  const { Metrics = [] } = alarm.parse(properties);
  return Math.max(1, Metrics.filter(({ MetricStat }) => MetricStat !== undefined).length);
}

/** Custom metrics of a template, with the hours per month in which each has values while idle. */
function customMetrics(resources: readonly Resource[]): ReadonlyMap<string, number> {
  const hours = new Map<string, number>();
  for (const { type, properties } of resources) {
    if (type !== "AWS::Logs::MetricFilter") continue;
    const { FilterPattern, MetricTransformations } = metricFilter.parse(properties);
    for (const { MetricNamespace, MetricName } of MetricTransformations) {
      const name = `${MetricNamespace} ${MetricName}`;
      hours.set(name, Math.max(hours.get(name) ?? 0, hoursAtRest[FilterPattern] ?? 0));
    }
  }
  return hours;
}

function metricMonths(resources: readonly Resource[]): number {
  return sumOf([...customMetrics(resources).values()]) / hoursAMonth;
}

/** Costs of all custom metrics that have values in every hour of a month, beyond those of an idle stage. */
export function busyMetricsOf(resources: readonly Resource[]): number {
  const metrics = customMetrics(resources).size + Object.keys(latencyMetrics).length;
  return (metrics - metricMonths(resources)) * prices.metricMonth;
}

/**
 * Our resources that a handmade design has too: it receives, stores, relays, fetches and keeps a token, on
 * standard queues.
 */
export function typicalOf(resources: readonly Resource[]): readonly Resource[] {
  const watches = /^AWS::(CloudWatch::|Logs::MetricFilter$)/;
  const has =
    /^(Token|Webhook|Events|Api|Users|Accounts|Endpoints|CompanyAccounts|Fetch(?!Checks)|Subscriber|Relay|Refresh)/;
  return resources
    .filter(({ id, type }) => has.test(id) && !id.startsWith("RelayResend") && !watches.test(type))
    .map(({ properties: { FifoQueue: _, ...properties }, ...resource }) => ({ ...resource, properties }));
}
