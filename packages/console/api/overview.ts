import { examine } from "@income-events/cli/doctor/examine.ts";
import { latencyQueries, readLatency } from "@income-events/cli/events/latency.ts";
import { registrationStatus } from "@income-events/cli/provider/registration.ts";
import { pipelineAlarms } from "@income-events/cli/status/stage-status.ts";
import { queueStatuses, subscriberQueues, workQueues } from "@income-events/cli/status/work-queues.ts";
import { type QueueTraffic, queueMetrics } from "../../../adapters/sqs/queue-metrics.ts";
import { type ConsoleContext, type Route, read } from "../route.ts";

/**
 * Caches an answer for some seconds, and shares one request among all callers that wait for it. `isAnew`
 * loads it again, for example after a change.
 */
export function recent<T>(
  load: () => Promise<T>,
  seconds: number,
  now: () => Date,
): (isAnew?: boolean) => Promise<T> {
  let last: { readonly at: number; readonly value: Promise<T> } | undefined;
  return (isAnew = false) => {
    const at = now().getTime();
    if (!isAnew && last !== undefined && at - last.at < seconds * 1000) return last.value;
    const made = { at, value: load() };
    last = made;
    made.value.catch(() => {
      // Failures are not cached.
      if (last === made) last = undefined;
    });
    return made.value;
  };
}

/** Messages through queues over a time range; times in seconds since 1970. */
export type Traffic = {
  readonly since: number;
  readonly until: number;
  readonly period: number;
  readonly queues: readonly (QueueTraffic & { readonly name: string })[];
};

/** Seconds between requests of a visible page. In AWS each metric that is requested is billed. */
const paces = {
  local: { queues: 1, alarms: 2, registrations: 10, doctor: 5 },
  aws: { queues: 60, alarms: 60, registrations: 60, doctor: 60 },
} as const;

/** Plots of this many seconds with a value for each period, requested at most once in `every` seconds. */
const spans = {
  "3h": { seconds: 3 * 3600, period: 60, every: 60 },
  "7d": { seconds: 7 * 86_400, period: 3600, every: 600 },
} as const;

/** US dollars for each metric of GetMetricData (us-east-1). Source: Amazon CloudWatch pricing. */
const dollarsPerMetric = 0.01 / 1000;
/** Metrics of a queue: two ages and two times of the last message. Doctor requests as many again. */
const metricsPerQueue = 8;
/** While a subscriber's messages wait, the overview requests the four of its polls, and so does doctor. */
const metricsPerSubscriber = 8;
/** Sent and received: three hours by the minute, and seven days by ten minutes. */
const plottedPerQueue = 2 + 2 / 10;

/** The parts of the first page. If one fails, the others are still shown. */
export function overviewRoutes(context: ConsoleContext): readonly Route[] {
  const { operation, now } = context;
  const { deployment, clients } = operation;
  const seconds = deployment.local === undefined ? paces.aws : paces.local;
  const part = (name: string, pace: number, load: () => Promise<object>): Route => {
    const answer = recent(load, pace, now);
    return read(`/api/${name}`, (_, asked) => answer(asked.is("anew")));
  };
  return [
    read("/api/stage", async () => stageOf(context, seconds)),
    trafficRoute(context),
    part("latency", seconds.alarms, () => readLatency(operation, now())),
    part("queues", seconds.queues, () => queueStatuses(workQueues(deployment), clients, now)),
    part("alarms", seconds.alarms, () => pipelineAlarms(operation)),
    part("registrations", seconds.registrations, () => registrationStatus(operation)),
    part("doctor", seconds.doctor, () =>
      examine({ deployment, clients, now: now() }, context.settings, context.options),
    ),
  ];
}

/** Messages through each queue, for plots and for a subscriber's reading rate. */
function trafficRoute({ operation: { deployment, clients }, now }: ConsoleContext): Route {
  const load =
    ({ seconds, period }: (typeof spans)[keyof typeof spans]) =>
    async (): Promise<Traffic> => {
      const queues = workQueues(deployment);
      const urls = queues.map(({ queueUrl }) => queueUrl);
      const traffic = await queueMetrics(clients.cloudWatch, now).traffic(urls, seconds, period);
      const until = now().getTime() / 1000;
      return {
        ...{ since: Math.floor((until - seconds) / period) * period, until, period },
        queues: queues.map(({ name, queueUrl }) => ({
          name,
          ...(traffic.get(queueUrl) ?? { sent: [], received: [] }),
        })),
      };
    };
  const isLocal = deployment.local !== undefined;
  const every = (seconds: number) => (isLocal ? paces.local.alarms : seconds);
  const short = recent(load(spans["3h"]), every(spans["3h"].every), now);
  const long = recent(load(spans["7d"]), every(spans["7d"].every), now);
  return read("/api/traffic", (_, asked) => (asked.optional("span") === "7d" ? long() : short()));
}

/** Data that does not change while the console runs. */
export function stageOf(
  { operation, isWritable }: ConsoleContext,
  paceInSeconds: Readonly<Record<keyof typeof paces.aws, number>>,
) {
  const { deployment } = operation;
  const isLocal = deployment.local !== undefined;
  const queues = workQueues(deployment).length;
  const subscribers = subscriberQueues(deployment);
  const perMinute =
    queues * (metricsPerQueue + plottedPerQueue) + subscribers.length * metricsPerSubscriber + latencyQueries;
  return {
    stage: deployment.stage,
    region: deployment.client.region,
    isLocal,
    isWritable,
    connectFlow: deployment.local?.sandbox && `${deployment.local.sandbox.baseUrl}/connect`,
    subscribers: subscribers.map(({ name, types }) => ({ name, types })),
    paceInSeconds,
    dollarsPerHour: isLocal ? 0 : perMinute * 60 * dollarsPerMetric,
  };
}
