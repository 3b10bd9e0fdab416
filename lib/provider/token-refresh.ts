import { Duration } from "aws-cdk-lib";
import type { Metric } from "aws-cdk-lib/aws-cloudwatch";
import * as events from "aws-cdk-lib/aws-events";
import * as targets from "aws-cdk-lib/aws-events-targets";
import type * as lambda from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import { allow, allowItems } from "../function/permissions.ts";
import { type FunctionDefaults, PipelineFunction } from "../function/pipeline-function.ts";
import { Alarm } from "../observability/alarm.ts";
import { logsSince } from "../observability/alarm-metrics.ts";
import { metricOfCodes, metricOfLines, metricOfLog } from "../observability/log-metric.ts";
import { every } from "../settings/durations.ts";
import type { Settings } from "../settings/settings.ts";
import type { EventTable } from "../storage/event-table.ts";
import type { TokenSecret } from "../storage/secrets.ts";

/** Codes of a token that is not renewed as it should be. They share an alarm: the remedy begins with the log. */
const atRisk = ["TOKEN_REFUSED", "TOKEN_DISCARDED", "TOKEN_SHORT_LIVED", "TOKEN_NEAR_END"];

const longestWaitInMinutes = 1_440;

/** A new stage has no token until its operator sets one, so the alarm waits for three runs. */
function afterSomeRuns(refreshEveryMinutes: number, period: Duration) {
  const minutes = Math.min(longestWaitInMinutes, 3 * refreshEveryMinutes);
  const periods = Math.ceil(minutes / period.toMinutes());
  return { breaching: periods, outOf: periods, staysWithoutData: true };
}

function countRunsAsNone(
  scope: Construct,
  { logGroup, nameInLogs }: PipelineFunction,
  { metricName }: Metric,
): void {
  const line = { field: "function", texts: [nameInLogs] };
  metricOfLines(scope, logGroup, line, { name: metricName, value: "0" });
}

/** Alerts the operator once when the token needs attention. */
export class TokenAlarms extends Construct {
  /** @param refreshEveryMinutes interval of the runs; an alarm stays on while one of two runs reports the problem */
  constructor(scope: Construct, id: string, refresh: PipelineFunction, refreshEveryMinutes: number) {
    super(scope, id);
    const everyMinutes = Math.ceil(refreshEveryMinutes);
    const period = Duration.minutes(everyMinutes);
    const twoRuns = { period, breaching: 1, outOf: 2 };
    new Alarm(this, "AtRisk", {
      entry: "token-at-risk",
      metric: metricOfCodes(refresh, "TokenAtRisk", atRisk),
      impact:
        "The token was not renewed: the provider refused the refresh or the new token, the token is close to expiry, or its " +
        "lifetime is shorter than the time between two refreshes. When it expires, no new income data is fetched. " +
        "Tasks wait; nothing is lost.",
      remedy: "Find the cause: npx income-events status --section token",
      ...twoRuns,
    });
    const missing = metricOfLog(refresh, "TOKEN_MISSING");
    new Alarm(this, "Missing", {
      entry: "token-missing",
      metric: missing,
      impact: "No token of the provider is set: no income data is fetched. Tasks wait; nothing is lost.",
      remedy: "Set the token: npx income-events token set < token.txt",
      period,
      ...afterSomeRuns(refreshEveryMinutes, period),
    });
    // Each run counts as 0, so that the alarm becomes OK once a token is set.
    countRunsAsNone(this, refresh, missing);
    new Alarm(this, "Failing", {
      entry: "token-refresh-failing",
      metric: refresh.lambda.metricErrors({ statistic: "Sum" }),
      impact:
        "The token could not be refreshed in two of the last three runs: when it expires, no new income data is fetched. " +
        "It recovers when the provider does.",
      remedy: `See what failed: ${logsSince("2h")}`,
      period,
      breaching: 2,
      outOf: 3,
    });
  }
}

export type TokenRefreshProps = {
  readonly settings: Settings;
  readonly defaults: FunctionDefaults;
  readonly providerBaseUrl: string;
  readonly token: TokenSecret;
  readonly table: EventTable;
};

/** Refreshes the token on a schedule, well before it expires, and when the provider refuses it in a call. */
export class TokenRefresh extends Construct {
  readonly lambda: lambda.Function;
  readonly refresher: PipelineFunction;

  constructor(
    scope: Construct,
    id: string,
    { settings, defaults, providerBaseUrl, token, table }: TokenRefreshProps,
  ) {
    super(scope, id);
    const { refreshEveryMinutes, marginFraction } = settings.token;
    const { secretArn } = token.secret;
    const refresh = new PipelineFunction(this, "Token", {
      ...defaults,
      entry: "functions/refresh/token.ts",
      description: "Refreshes the provider's token: pending, proven, then current",
      size: settings.functions.refresh,
      environment: {
        TOKEN_SECRET_ARN: secretArn,
        PROVIDER_BASE_URL: providerBaseUrl,
        TABLE_NAME: table.table.tableName,
      },
      settings: { provider: settings.provider, token: { marginFraction, refreshEveryMinutes } },
      permissions: [
        allow(
          [
            "secretsmanager:GetSecretValue",
            "secretsmanager:PutSecretValue",
            "secretsmanager:UpdateSecretVersionStage",
          ],
          [secretArn],
        ),
        allowItems(["dynamodb:GetItem", "dynamodb:UpdateItem"], table.table.tableArn, ["PROVIDER"]),
      ],
      // The next run retries; retries by Lambda would create a version of the secret each minute.
      retryAttempts: 0,
    });
    this.lambda = refresh.lambda;
    this.refresher = refresh;
    new TokenAlarms(this, "Alarms", refresh, refreshEveryMinutes);
    new events.Rule(this, "Schedule", {
      description: "Refreshes the provider's token",
      schedule: every(Duration.minutes(refreshEveryMinutes)),
      targets: [new targets.LambdaFunction(refresh.lambda)],
    });
  }
}
