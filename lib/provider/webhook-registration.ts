import { Duration, Fn } from "aws-cdk-lib";
import * as events from "aws-cdk-lib/aws-events";
import * as targets from "aws-cdk-lib/aws-events-targets";
import type * as lambda from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import { overlapSecondsOf, propagationSecondsOf } from "../../domain/core/secret-registration.ts";
import { allow, allowItems } from "../function/permissions.ts";
import { type FunctionDefaults, PipelineFunction } from "../function/pipeline-function.ts";
import { Alarm } from "../observability/alarm.ts";
import { addOutput } from "../output.ts";
import { every } from "../settings/durations.ts";
import { exportNameReplacements, registrationExportPrefix } from "../settings/registration-export.ts";
import type { Settings } from "../settings/settings.ts";
import type { EventTable } from "../storage/event-table.ts";
import type { TokenSecret, WebhookSecret } from "../storage/secrets.ts";

export type WebhookRegistrationProps = {
  readonly settings: Settings;
  readonly defaults: FunctionDefaults;
  readonly providerBaseUrl: string;
  readonly webhooksUrl: string;
  readonly token: TokenSecret;
  readonly secret: WebhookSecret;
  readonly table: EventTable;
};

/** Registers each kind's webhook address with the provider, and repeats this on a schedule to undo changes. */
export class WebhookRegistration extends Construct {
  readonly lambda: lambda.Function;
  /** Seconds, for the command that rotates the secret. */
  readonly rotation: { readonly propagationSeconds: number; readonly overlapSeconds: number };

  constructor(scope: Construct, id: string, props: WebhookRegistrationProps) {
    super(scope, id);
    const { settings, defaults, providerBaseUrl, webhooksUrl, token, secret, table } = props;
    const { secretHeader, secretScheme, secretCacheSeconds, retryHours } = settings.webhooks;
    const { everyHours } = settings.register;
    this.rotation = {
      propagationSeconds: propagationSecondsOf(secretCacheSeconds),
      overlapSeconds: overlapSecondsOf(retryHours, everyHours),
    };
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
      settings: {
        provider: settings.provider,
        secretHeader,
        secretScheme,
        readsFirst: settings.register.readsFirst,
        rotation: this.rotation,
      },
      permissions: [
        allow(["secretsmanager:GetSecretValue"], [secret.secret.secretArn, token.secret.secretArn]),
        allowItems(["dynamodb:GetItem", "dynamodb:UpdateItem"], table.table.tableArn, ["PROVIDER"]),
      ],
    });
    this.lambda = register.lambda;
    new events.Rule(this, "Schedule", {
      description: "Registers the webhooks with the provider",
      schedule: every(Duration.hours(everyHours)),
      targets: [new targets.LambdaFunction(register.lambda)],
    });
    new Alarm(this, "Failing", {
      entry: "registration-failing",
      metric: register.lambda.metricErrors({ statistic: "Sum" }),
      impact:
        "The webhooks could not be registered with the provider. Earlier registrations still work, but later changes, such " +
        "as a rotated secret, are not registered.",
      remedy: "Try again, and see why: npx income-events webhooks register",
      // Lambda retries a failed scheduled run twice, after one and after two minutes.
      period: Duration.minutes(15),
      threshold: 3,
      breaching: 1,
      outOf: 1,
    });
    this.#claim(scope, providerBaseUrl);
  }

  /**
   * Two stages that register with one provider environment would replace each other's webhooks. CloudFormation refuses
   * a second export of a name within an account and region: "Export with name … is already exported by stack …".
   * Source: CloudFormation user guide, "Outputs". See docs/adr/0006.
   */
  #claim(scope: Construct, providerBaseUrl: string): void {
    addOutput(scope, "RegistersWith", {
      value: providerBaseUrl,
      description:
        "Where this stage registers its webhooks; no other stage here can do so. See register.enabled",
      exportName: `${registrationExportPrefix}${exportNameOf(providerBaseUrl)}`,
    });
  }
}

/**
 * An address without its scheme, in the characters that an export's name may have: letters, digits, ":" and "-".
 * CloudFormation builds it, because the address can be a parameter. Two valid addresses never give the same name.
 */
function exportNameOf(address: string): string {
  const withoutScheme = Fn.select(1, Fn.split("://", address));
  return exportNameReplacements.reduce(
    (text, [from, to]) => Fn.join(to, Fn.split(from, text)),
    withoutScheme,
  );
}
