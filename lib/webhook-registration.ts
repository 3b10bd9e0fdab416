import { Duration } from "aws-cdk-lib";
import * as events from "aws-cdk-lib/aws-events";
import * as targets from "aws-cdk-lib/aws-events-targets";
import type * as lambda from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import { every } from "./durations.ts";
import type { EventTable } from "./event-table.ts";
import { allow } from "./permissions.ts";
import { type FunctionDefaults, PipelineFunction } from "./pipeline-function.ts";
import type { TokenSecret, WebhookSecret } from "./secrets.ts";
import type { Settings } from "./settings.ts";

export type WebhookRegistrationProps = {
  readonly settings: Settings;
  readonly defaults: FunctionDefaults;
  readonly providerBaseUrl: string;
  readonly webhooksUrl: string;
  readonly token: TokenSecret;
  readonly secret: WebhookSecret;
  readonly table: EventTable;
};

/** Tells the provider where each kind's webhooks go, again on a schedule: what was changed there is put right. */
export class WebhookRegistration extends Construct {
  readonly lambda: lambda.Function;

  constructor(scope: Construct, id: string, props: WebhookRegistrationProps) {
    super(scope, id);
    const { settings, defaults, providerBaseUrl, webhooksUrl, token, secret, table } = props;
    const register = new PipelineFunction(this, "Webhooks", {
      ...defaults,
      entry: "functions/register/webhooks.ts",
      description: "Registers the webhooks of all kinds with the provider",
      size: settings.functions.register,
      environment: {
        WEBHOOK_SECRET_ARN: secret.secret.secretArn,
        TOKEN_SECRET_ARN: token.secret.secretArn,
        PROVIDER_BASE_URL: providerBaseUrl,
        WEBHOOKS_URL: webhooksUrl,
        TABLE_NAME: table.table.tableName,
      },
      settings: { provider: settings.provider, secretHeader: settings.webhooks.secretHeader },
      permissions: [
        allow(["secretsmanager:GetSecretValue"], [secret.secret.secretArn, token.secret.secretArn]),
        allow(["dynamodb:UpdateItem"], [table.table.tableArn]),
      ],
    });
    this.lambda = register.lambda;
    new events.Rule(this, "Schedule", {
      description: "Registers the webhooks with the provider",
      schedule: every(Duration.hours(settings.register.everyHours)),
      targets: [new targets.LambdaFunction(register.lambda)],
    });
  }
}
