import type * as apigateway from "aws-cdk-lib/aws-apigatewayv2";
import type { IMetric, MathExpression, Metric } from "aws-cdk-lib/aws-cloudwatch";
import type { Erasure } from "../erasure/erasure.ts";
import type { Fetching } from "../provider/fetching.ts";
import type { Reconciliation } from "../provider/reconciliation.ts";
import type { TokenRefresh } from "../provider/token-refresh.ts";
import type { ReceivingAlarms } from "../receiving/receiving-alarms.ts";
import type { WebhookEndpoint } from "../receiving/webhook-endpoint.ts";
import type { WebhooksStage } from "../receiving/webhooks-stage.ts";
import type { WorkQueue } from "../receiving/work-queue.ts";
import type { Relay } from "../relay/relay.ts";
import type { Subscribers } from "../relay/subscribers.ts";
import { deadLetters, oldestMessage } from "./alarm-metrics.ts";
import { eventsStored, latencyMetric, sameMetric } from "./log-metric.ts";
import type { ThrottleAlarms } from "./throttle-alarms.ts";

export type DashboardParts = {
  readonly api: apigateway.HttpApi;
  readonly apiStage: WebhooksStage;
  readonly receiving: ReadonlyMap<string, WebhookEndpoint>;
  readonly receipts: ReceivingAlarms;
  readonly relay: Relay;
  readonly fetching: Fetching;
  readonly refresh: TokenRefresh;
  readonly subscribers: Subscribers;
  readonly erasure: Erasure;
  readonly reconciliation: Reconciliation;
  readonly throttles: ThrottleAlarms;
};

/** A widget of a row, with the metrics of its left and its right axis. */
type MetricPanel = {
  readonly title: string;
  readonly left: readonly IMetric[];
  readonly right?: readonly IMetric[];
};

/** A widget of a row that draws what log lines say. The query runs when somebody looks; a metric costs US$ 0.30 a month. */
type QueryPanel = {
  readonly title: string;
  readonly logGroupName: string;
  readonly queryLines: readonly string[];
};

type Panel = MetricPanel | QueryPanel;

/** One step of the data flow, as a row. */
export type DashboardRow = {
  readonly heading: string;
  readonly text: string;
  readonly panels: readonly Panel[];
};

/** Rows of the dashboard, in the order of the data flow. */
export function dashboardRows(parts: DashboardParts): readonly DashboardRow[] {
  const { relay, fetching, refresh, subscribers, erasure, reconciliation, throttles } = parts;
  const stores = [...parts.receiving.values()].map(({ store }) => store);
  const works = new Map([...parts.receiving].map(([kind, { work }]) => [kind, work]));
  const queues = new Map([
    ...works,
    ["fetch", fetching.work],
    ["checks", fetching.checks],
    ["erase", erasure.work],
    ...subscribers.queues,
  ]);
  return [
    received(parts),
    {
      heading: "Stored",
      text: "Events: first receipts, duplicates, rejected ones, and those that wait.",
      panels: [
        {
          title: "Stored and duplicate",
          left: [
            named(eventsStored(stores), "stored"),
            named(
              sameMetric(stores, "EVENT_DUPLICATE", { field: "count", name: "DuplicateEvents" }),
              "again",
            ),
            named(sameMetric(stores, "MESSAGE_REJECTED"), "rejected as dead letters"),
          ],
        },
        { title: "Oldest event, seconds", left: each(works, oldestMessage) },
        { title: "Waiting events", left: each(works, depth) },
      ],
    },
    {
      heading: "Relayed",
      text: "Fetches and messages to subscribers that changes of the table lead to.",
      panels: [
        { title: "Changes relayed", left: [named(relay.relayed, "relayed")] },
        {
          title: "Lag, milliseconds",
          left: [named(relay.lambda.metric("IteratorAge", { statistic: "Maximum" }), "lag")],
        },
        {
          title: "Webhook to subscriber and to document, milliseconds",
          left: [
            named(latencyMetric(relay, "toSubscriber", "p50"), "subscriber, p50"),
            named(latencyMetric(relay, "toSubscriber", "p99"), "subscriber, p99"),
            named(latencyMetric(relay, "toDocument", "p50"), "document, p50"),
            named(latencyMetric(relay, "toDocument", "p99"), "document, p99"),
          ],
        },
      ],
    },
    {
      heading: "Fetched",
      text: "Calls to the provider, within its rate limit, and their token.",
      panels: [
        {
          title: "Fetched",
          left: [
            named(sameMetric([fetching.fetch], "TASK_DONE"), "tasks done"),
            named(fetching.down, "found the provider down"),
          ],
        },
        {
          title: "Waiting calls",
          left: [named(depth(fetching.work), "ready"), named(hidden(fetching.work), "hidden")],
          right: [
            named(oldestMessage(fetching.work), "oldest, seconds"),
            named(oldestMessage(fetching.checks), "oldest check, seconds"),
          ],
        },
        {
          title: "Token lifetime left, hours",
          logGroupName: refresh.refresher.logGroup.logGroupName,
          queryLines: [
            'filter code = "TOKEN_TIME_LEFT"',
            "fields remainingInSeconds / 3600 as hoursLeft",
            "stats min(hoursLeft) by bin(1h)",
          ],
        },
      ],
    },
    {
      heading: "Delivered",
      text: "Messages sent to each subscriber's queue, messages that its reader deleted, and its backlog.",
      panels:
        subscribers.queues.size === 0
          ? []
          : [
              {
                title: "Sent",
                left: each(subscribers.queues, ({ queue }) => queue.metricNumberOfMessagesSent()),
              },
              {
                title: "Delivered",
                left: each(subscribers.queues, ({ queue }) => queue.metricNumberOfMessagesDeleted()),
              },
              { title: "Oldest message, seconds", left: each(subscribers.queues, oldestMessage) },
            ],
    },
    {
      heading: "Failures",
      text: "Dead letters of each queue, webhooks that were missed, and throttled calls.",
      panels: [
        { title: "Dead letters", left: each(queues, deadLetters) },
        { title: "Reconciliation drift", left: [named(reconciliation.drift, "found by comparing")] },
        {
          title: "Throttled",
          left: [...throttles.functions, ...throttles.table],
        },
      ],
    },
  ].filter(({ panels }) => panels.length > 0);
}

function received({ api, apiStage, receipts }: DashboardParts): DashboardRow {
  return {
    heading: "Received",
    text: "Webhooks by answer. Accepted ones are durable.",
    panels: [
      {
        title: "Received and rejected",
        left: [
          named(receipts.accepted, "accepted"),
          named(receipts.refused, "rejected"),
          named(apiStage.throttled, "throttled"),
        ],
      },
      {
        title: "Answers",
        left: [
          named(api.metricCount({ statistic: "Sum" }), "all"),
          named(api.metricClientError({ statistic: "Sum" }), "4xx"),
          named(api.metricServerError({ statistic: "Sum" }), "5xx"),
        ],
      },
      {
        title: "Latency, milliseconds",
        left: [
          named(api.metricLatency({ statistic: "p50" }), "half of them"),
          named(api.metricLatency({ statistic: "p99" }), "99 of 100"),
        ],
      },
    ],
  };
}

function named(metric: Metric | MathExpression, label: string): IMetric {
  return metric.with({ label });
}

function each(
  works: ReadonlyMap<string, WorkQueue>,
  metricOf: (work: WorkQueue) => Metric,
): readonly IMetric[] {
  return [...works].map(([name, work]) => named(metricOf(work), name));
}

function depth({ queue }: WorkQueue): Metric {
  return queue.metricApproximateNumberOfMessagesVisible({ statistic: "Maximum" });
}

function hidden({ queue }: WorkQueue): Metric {
  return queue.metricApproximateNumberOfMessagesNotVisible({ statistic: "Maximum" });
}
