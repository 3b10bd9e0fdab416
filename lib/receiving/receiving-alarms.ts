import { Duration } from "aws-cdk-lib";
import type * as apigateway from "aws-cdk-lib/aws-apigatewayv2";
import type { Metric } from "aws-cdk-lib/aws-cloudwatch";
import { Construct } from "constructs";
import type { PipelineFunction } from "../function/pipeline-function.ts";
import { Alarm } from "../observability/alarm.ts";
import { failurePeriod, oldestAge } from "../observability/alarm-limits.ts";
import {
  deadLetters,
  duringHours,
  failedEvents,
  greatestOf,
  logsSince,
  oldestMessage,
  sumOf,
} from "../observability/alarm-metrics.ts";
import { metricOfLines, sameMetric } from "../observability/log-metric.ts";
import type { TokenRefresh } from "../provider/token-refresh.ts";
import { inWords } from "../settings/durations.ts";
import type { Settings } from "../settings/settings.ts";
import type { OtherPaths } from "./other-paths.ts";
import type { WebhookEndpoint } from "./webhook-endpoint.ts";
import type { WebhooksStage } from "./webhooks-stage.ts";

export type ReceivingAlarmsProps = {
  readonly settings: Settings;
  readonly api: apigateway.HttpApi;
  readonly apiStage: WebhooksStage;
  readonly receiving: ReadonlyMap<string, WebhookEndpoint>;
  readonly otherPaths: OtherPaths;
  readonly refresh: TokenRefresh;
};

/** Fewer are a short burst, which is retried within minutes. */
const manyInFiveMinutes = 10;

/** Alerts the operator when webhooks do not arrive, are refused, or are not stored. */
export class ReceivingAlarms extends Construct {
  readonly refused: Metric;
  readonly #receivers: readonly PipelineFunction[];

  constructor(scope: Construct, id: string, props: ReceivingAlarmsProps) {
    super(scope, id);
    const kinds = [...props.receiving.values()];
    this.#receivers = [...kinds, props.otherPaths].map(({ receive }) => receive);
    this.refused = sameMetric(this.#receivers, "WEBHOOK_REFUSED");
    this.#watchWhatIsRefused(props.settings);
    this.#watchSilence(props);
    this.#watchWhatIsTurnedAway(props);
    this.#watchWhatWaits(kinds.map(({ work }) => work));
    this.#watchWhatFails(kinds, props.settings);
  }

  /** Created only if an alarm or the dashboard uses it, because a metric filter costs money once it has values. */
  get accepted(): Metric {
    return sameMetric(this.#receivers, "WEBHOOK_ACCEPTED");
  }

  /** Webhooks that were answered with 503 because of their content, not the receivers' state. */
  get notKept(): Metric {
    return sameMetric(this.#receivers, "WEBHOOK_NOT_KEPT");
  }

  /** Has no default, because small tenants have nights and weekends without webhooks. */
  #watchSilence({ settings, refresh }: ReceivingAlarmsProps): void {
    const { nothingReceivedHours, receivingSchedule } = settings.alarms;
    if (nothingReceivedHours === undefined) return;
    const silence = Duration.hours(nothingReceivedHours);
    const { accepted } = this;
    // Each run of the refresher counts as 0 webhooks, so that silence counts only once the stage is deployed.
    const { logGroup, nameInLogs } = refresh.refresher;
    const line = { field: "function", texts: [nameInLogs] };
    metricOfLines(this, logGroup, line, { name: accepted.metricName, value: "0" });
    const shortest = settings.divideDurationsBy === 1 ? 60 : 1;
    const period = Duration.minutes(Math.max(shortest, Math.ceil(settings.token.refreshEveryMinutes)));
    const periods = Math.max(1, Math.floor(silence.toMinutes({ integral: false }) / period.toMinutes()));
    const within = receivingSchedule === undefined ? "" : ` within ${receivingSchedule} UTC`;
    new Alarm(this, "Nothing", {
      entry: "nothing-received",
      metric: receivingSchedule === undefined ? accepted : duringHours(accepted, receivingSchedule),
      impact:
        `No webhook was accepted for ${inWords(silence)}${within}: new accounts and income data may be missing. The ` +
        "reconciliation finds missed users and accounts.",
      remedy: "Check where the provider sends them: npx income-events status --section webhooks",
      period,
      threshold: 0,
      raisedBelow: true,
      breaching: periods,
      outOf: periods,
    });
  }

  #watchWhatIsRefused(settings: Settings): void {
    new Alarm(this, "Refused", {
      entry: "webhooks-refused",
      metric: this.refused,
      impact:
        "Many webhooks are refused for their secret, signature or source: either the provider sends another secret, and " +
        "new accounts and income data are missing, or somebody else calls the address.",
      remedy: "Register the secret again: npx income-events webhooks register",
      period: Duration.hours(1),
      threshold: settings.alarms.refusedPerHour,
      breaching: 1,
      outOf: 1,
    });
  }

  #watchWhatIsTurnedAway({ api, apiStage, receiving }: ReceivingAlarmsProps): void {
    const [first] = receiving.values();
    if (first === undefined) throw new Error("There is no kind of webhook");
    const period = Duration.minutes(5);
    new Alarm(this, "Failing", {
      entry: "webhooks-failing",
      metric: api.metricServerError({ statistic: "Sum" }),
      impact:
        "Webhooks get an error as the answer: new accounts and income data are late. They are lost if this lasts three " +
        "days, as long as the provider retries.",
      remedy: `See why: ${logsSince("1h")}`,
      period,
      threshold: manyInFiveMinutes,
      breaching: 1,
      outOf: 1,
    });
    new Alarm(this, "Throttled", {
      entry: "webhooks-throttled",
      metric: apiStage.throttled,
      impact:
        "More webhooks arrive than webhooks.throttle allows: the others get the answer 429, and their data is late because " +
        "the provider retries them.",
      remedy: "Raise webhooks.throttle in the stage's settings, then: npx cdk deploy",
      period,
      threshold: manyInFiveMinutes,
      breaching: 1,
      outOf: 1,
    });
  }

  #watchWhatFails(kinds: readonly WebhookEndpoint[], settings: Settings): void {
    const [first] = kinds;
    if (first === undefined) throw new Error("There is no kind of webhook");
    new Alarm(this, "StoreFailing", {
      entry: "events-failing",
      metric: sumOf(kinds.map(({ source }) => failedEvents(source))),
      impact:
        "Accepted webhooks repeatedly fail to be stored: new accounts and income data are not stored. Each is retried for " +
        "12 hours and then becomes a dead letter.",
      remedy: `See why: ${logsSince("1h")}`,
      period: failurePeriod(first.work.visibilityTimeout, settings),
      breaching: 2,
      outOf: 3,
    });
  }

  #watchWhatWaits(works: readonly WebhookEndpoint["work"][]): void {
    const [first] = works;
    if (first === undefined) throw new Error("There is no kind of webhook");
    const limit = oldestAge(first.visibilityTimeout, first.retention);
    const period = Duration.minutes(5);
    new Alarm(this, "Late", {
      entry: "events-late",
      metric: greatestOf(works.map(oldestMessage)),
      impact:
        `Accepted webhooks have waited for ${inWords(limit)}, and no function receives them: new accounts and income data ` +
        "are not stored. They wait; nothing is lost.",
      remedy: "Find the cause: npx income-events doctor",
      period,
      threshold: limit.toSeconds(),
      breaching: 1,
      outOf: 1,
    });
    new Alarm(this, "DeadLetters", {
      entry: "events-dead-letters",
      metric: sumOf(works.map(deadLetters)),
      impact:
        "Accepted webhooks could not be mapped or stored: their changes of users and accounts are missing until you fix " +
        "the cause and redrive them.",
      remedy: "Show them with their reasons: npx income-events dlq list",
      period,
      breaching: 1,
      outOf: 1,
    });
  }
}
