import { Duration } from "aws-cdk-lib";
import type * as apigateway from "aws-cdk-lib/aws-apigatewayv2";
import type { Metric } from "aws-cdk-lib/aws-cloudwatch";
import * as events from "aws-cdk-lib/aws-events";
import * as targets from "aws-cdk-lib/aws-events-targets";
import type * as lambda from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import type { WebhookKind } from "../../domain/event/events.ts";
import { loggedNameIndex } from "../../domain/event/subjects.ts";
import { allow } from "../function/permissions.ts";
import { type FunctionDefaults, PipelineFunction } from "../function/pipeline-function.ts";
import { pipelineName } from "../instance.ts";
import { Alarm } from "../observability/alarm.ts";
import { logsSince } from "../observability/alarm-metrics.ts";
import { metricOfCodes, metricOfLog } from "../observability/log-metric.ts";
import type { ReceivingAlarms } from "../receiving/receiving-alarms.ts";
import type { WebhookEndpoint } from "../receiving/webhook-endpoint.ts";
import type { WebhooksStage } from "../receiving/webhooks-stage.ts";
import { every, inWords } from "../settings/durations.ts";
import type { Settings } from "../settings/settings.ts";
import type { EventTable } from "../storage/event-table.ts";
import type { TokenSecret } from "../storage/secrets.ts";
import type { Fetching } from "./fetching.ts";

export type ReconciliationProps = {
  readonly settings: Settings;
  readonly defaults: FunctionDefaults;
  readonly providerBaseUrl: string;
  readonly token: TokenSecret;
  readonly table: EventTable;
  /** Missed events are sent to the queues of the webhooks. */
  readonly receiving: ReadonlyMap<WebhookKind, WebhookEndpoint>;
  /** Data to read again is sent to the fetch queue. */
  readonly fetching: Fetching;
  /** Their metrics show when webhooks may have been lost. */
  readonly api: apigateway.HttpApi;
  readonly apiStage: WebhooksStage;
  readonly receipts: ReceivingAlarms;
};

/** Accounts without new data are announced by an update of their readiness. */
function tableActions({ readiness }: Settings): readonly string[] {
  const actions = ["GetItem", "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem", "Query"];
  return [...actions, ...(readiness?.staleDays === undefined ? [] : ["PartiQLUpdate"])].map(
    (action) => `dynamodb:${action}`,
  );
}

/** Metrics that show when webhooks may have been lost, and how many canaries are in half a gap at most. */
function metricsOf({ apiStage, receipts, settings: { canary, reconcile } }: ReconciliationProps) {
  const halfGapMinutes = reconcile.missed.gapMinutes / 2;
  return {
    throttled: apiStage.throttled.metricName,
    notKept: receipts.notKept.metricName,
    canaries: canary === undefined ? 0 : Math.floor(halfGapMinutes / canary.everyMinutes) + 1,
  };
}

/** Compares the provider's list of users with the table on a schedule, to find what no webhook announced. */
export class Reconciliation extends Construct {
  readonly lambda: lambda.Function;
  /** Number of differences between the provider's lists and the table, by run. */
  readonly drift: Metric;

  constructor(scope: Construct, id: string, props: ReconciliationProps) {
    super(scope, id);
    const { settings, defaults, providerBaseUrl, token, table, receiving, fetching } = props;
    const { tickMinutes, missed, ...reconcile } = settings.reconcile;
    const { mapping } = settings;
    const [users, accounts] = [queueOf(receiving, "users"), queueOf(receiving, "accounts")];
    const companyAccounts = queueOf(receiving, "company-accounts");
    const queues = [users, accounts, companyAccounts, fetching.work.queue];
    const compare = new PipelineFunction(this, "Users", {
      ...defaults,
      entry: "functions/reconcile/users.ts",
      description: "Compares the provider's list of users with the table, page by page",
      size: settings.functions.reconcile,
      environment: {
        TABLE_NAME: table.table.tableName,
        USERS_QUEUE_URL: users.queueUrl,
        ACCOUNTS_QUEUE_URL: accounts.queueUrl,
        COMPANY_ACCOUNTS_QUEUE_URL: companyAccounts.queueUrl,
        FETCH_QUEUE_URL: fetching.work.queue.queueUrl,
        TOKEN_SECRET_ARN: token.secret.secretArn,
        PROVIDER_BASE_URL: providerBaseUrl,
        API_ID: props.api.apiId,
        METRICS_NAMESPACE: pipelineName(this),
      },
      settings: {
        provider: settings.provider,
        reconcile: { ...reconcile, missed: { ...missed, minuteInMillis: minuteInMillis(settings) } },
        startEndpoints: settings.startEndpoints,
        ...(settings.readiness?.staleDays !== undefined && { staleDays: settings.readiness.staleDays }),
        metrics: metricsOf(props),
        ids: { users: mapping.users.ids, accounts: mapping.accounts.ids },
      },
      permissions: [
        allow(tableActions(settings), [table.table.tableArn]),
        // The index of states finds the known company accounts.
        allow(["dynamodb:Scan"], [`${table.table.tableArn}/index/${loggedNameIndex.name}`]),
        allow(
          ["sqs:SendMessage"],
          queues.map(({ queueArn }) => queueArn),
        ),
        allow(["secretsmanager:GetSecretValue"], [token.secret.secretArn]),
        allow(["cloudwatch:GetMetricData"], ["*"]),
      ],
      // The next tick continues the run.
      retryAttempts: 0,
    });
    this.lambda = compare.lambda;
    this.drift = metricOfLog(compare, "RECONCILED", { field: "drift", name: "ReconciliationDrift" });
    // Until the next run, and at most a day, CloudWatch's longest period.
    const untilNextRun = Duration.hours(Math.min(24, settings.reconcile.everyHours));
    new Alarm(this, "Incomplete", {
      entry: "reconciliation-incomplete",
      metric: metricOfCodes(compare, "ReconciliationIncomplete", [
        "RECONCILIATION_FAILED",
        "RECONCILIATION_OVERDUE",
      ]),
      impact:
        "The comparison with the provider's list of users ended early or is overdue: users and accounts without a webhook " +
        "stay unknown. The settings reconcile, provider.paths and provider.paging define how the list is read.",
      remedy: `See why: ${logsSince("2d")}`,
      period: untilNextRun,
      breaching: 1,
      outOf: 1,
    });
    new Alarm(this, "Failing", {
      entry: "reconciliation-failing",
      metric: compare.lambda.metricErrors({ statistic: "Sum" }),
      impact:
        "The function that compares the provider's list of users with the table repeatedly crashes or times out: users " +
        "and accounts without a webhook stay unknown.",
      remedy: `See why: ${logsSince("1h")}`,
      // Each period contains several ticks.
      period: Duration.minutes(Math.max(1, Math.ceil(3 * tickMinutes))),
      breaching: 2,
      outOf: 3,
    });
    new Alarm(this, "DeletionsHeld", {
      entry: "deletions-held",
      metric: metricOfLog(compare, "DELETIONS_HELD"),
      impact:
        "More accounts disappeared from the provider's lists than may be deleted without an operator " +
        "(reconcile.maxDeletions). None is deleted, and subscribers are not informed. The provider's lists may be wrong.",
      remedy:
        "If the provider confirms that the accounts are gone: npx income-events reconcile accept-deletions",
      period: untilNextRun,
      breaching: 1,
      outOf: 1,
    });
    new Alarm(this, "Gap", {
      entry: "webhooks-missed",
      metric: this.drift,
      impact:
        "The provider lists users or accounts that no webhook announced: webhooks are lost, and this income data is up " +
        `to ${inWords(Duration.hours(settings.reconcile.everyHours))} late. The reconciliation fetches it automatically.`,
      remedy: "Check where webhooks go: npx income-events status --section webhooks",
      period: untilNextRun,
      threshold: settings.alarms.reconciliationDrift,
      breaching: 1,
      outOf: 1,
    });
    new events.Rule(this, "Schedule", {
      description: "Goes on with the comparison, or begins the next one when its time has come",
      schedule: every(Duration.minutes(tickMinutes)),
      targets: [new targets.LambdaFunction(compare.lambda)],
    });
  }
}

/** CloudWatch counts by the minute. The local sandbox, whose stage divides durations, uses shorter periods. */
function minuteInMillis({ divideDurationsBy }: Settings): number {
  return 1_000 * Math.max(1, Math.round(60 / divideDurationsBy));
}

function queueOf(receiving: ReconciliationProps["receiving"], kind: WebhookKind) {
  const found = receiving.get(kind);
  if (found === undefined) throw new Error(`There is no queue of ${kind}`);
  return found.work.queue;
}
