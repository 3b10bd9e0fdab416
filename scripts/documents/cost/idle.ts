import { z } from "zod";
import type { Prices } from "../../../proof/bench/price.ts";
import { assumptions } from "../../../proof/cost/assumptions.ts";
import type { Tick } from "../../../proof/cost/counts.ts";
import { nameOfResource, type Resource, scheduledIn, secondsAMonth } from "../stage-template.ts";
import { billedSeconds } from "./bill.ts";

/** What stands or runs without events: how many, what each costs in a month. */
export type IdleLine = { readonly name: string; readonly count: number; readonly dollars: number };

const alarm = z.object({ Metrics: z.array(z.object({ MetricStat: z.unknown().optional() })).optional() });
const metricFilter = z.object({
  MetricTransformations: z.array(z.object({ MetricNamespace: z.string(), MetricName: z.string() })),
});

/** The month's bill of resources that nothing happens to. @throws where a schedule was never counted */
export function idleOf(
  resources: readonly Resource[],
  ticks: readonly Tick[],
  prices: Prices,
): readonly IdleLine[] {
  const ofType = (type: string) => resources.filter((each) => each.type === type);
  const line = (name: string, count: number, price: number): IdleLine => ({
    name,
    count,
    dollars: count * price,
  });
  const alarms = ofType("AWS::CloudWatch::Alarm").reduce((sum, each) => sum + metricsOf(each), 0);
  const sources = queueSourcesIn(resources);
  const fifoSources = sources.filter((source) => isOfFifo(source, resources)).length;
  const schedules = scheduledIn(resources);
  const runs = schedules.map(({ functionId, timesAMonth }) => {
    const tick = ticks.find((each) => each.function === nameOfResource(functionId));
    if (tick === undefined) throw new Error(`${functionId} was never counted; run npm run proof -- cost`);
    return { timesAMonth, price: priceOf(tick, prices) };
  });
  return [
    line("Secrets Manager, secrets", ofType("AWS::SecretsManager::Secret").length, prices.secretMonth),
    line("CloudWatch, metrics of alarms", alarms, prices.alarmMonth),
    line(
      "CloudWatch, custom metrics, while they have values",
      customMetrics(resources).size,
      prices.metricMonth,
    ),
    line(
      "CloudWatch, composite alarms",
      ofType("AWS::CloudWatch::CompositeAlarm").length,
      prices.compositeAlarmMonth,
    ),
    line("CloudWatch, dashboards", ofType("AWS::CloudWatch::Dashboard").length, prices.dashboardMonth),
    {
      name: "SQS, empty receives of event sources",
      count: sources.length * pollsAMonth,
      dollars:
        pollsAMonth *
        ((sources.length - fifoSources) * prices.sqsRequest + fifoSources * prices.sqsFifoRequest),
    },
    {
      name: "Schedules, runs with all that they call",
      count: runs.reduce((sum, { timesAMonth }) => sum + timesAMonth, 0),
      dollars: runs.reduce((sum, { timesAMonth, price }) => sum + timesAMonth * price, 0),
    },
  ];
}

const pollsAMonth = (assumptions.pollersPerQueue * secondsAMonth) / assumptions.pollSeconds;

/** Event sources of queues; those of the stream are read free of charge. */
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

/** Of one run; the items that it reads and writes are small, so that each request is one unit. */
function priceOf(tick: Tick, prices: Prices): number {
  const calls = tick.sqsRequests + tick.tableRequests + tick.secretCalls + tick.objectPuts + tick.objectGets;
  const seconds = billedSeconds(tick.cpuMicros, calls, 1, tick.memoryMb);
  return (
    prices.lambdaRequest +
    (seconds * tick.memoryMb * prices.lambdaGigabyteSecond) / 1_024 +
    tick.sqsRequests * prices.sqsRequest +
    tick.tableRequests * prices.writeUnit +
    tick.secretCalls * prices.secretRead +
    tick.objectPuts * prices.objectPut +
    tick.objectGets * prices.objectGet +
    (tick.logBytes / 2 ** 30) * prices.logGigabyte
  );
}

/**
 * Of our resources those that the typical design has too: it receives, stores, relays, fetches and keeps a token. It checks
 * no starts, and has standard queues.
 */
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
