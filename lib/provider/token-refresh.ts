import { Duration } from "aws-cdk-lib";
import * as events from "aws-cdk-lib/aws-events";
import * as targets from "aws-cdk-lib/aws-events-targets";
import type * as lambda from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import { allow, allowItems } from "../function/permissions.ts";
import { type FunctionDefaults, PipelineFunction } from "../function/pipeline-function.ts";
import { every } from "../settings/durations.ts";
import type { Settings } from "../settings/settings.ts";
import type { EventTable } from "../storage/event-table.ts";
import type { TokenSecret } from "../storage/secrets.ts";
import { TokenAlarms } from "./token-alarms.ts";

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
