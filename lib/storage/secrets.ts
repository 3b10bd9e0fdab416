import * as secretsmanager from "aws-cdk-lib/aws-secretsmanager";
import { Construct } from "constructs";
import { acknowledge } from "../acknowledgements.ts";
import type { Settings } from "../settings/settings.ts";
import { dataKeyOf } from "./encryption.ts";

// A trap: CloudFormation generates a new value, over the one in use, when anything of generateSecretString
// changes. The baseline of the tests holds these properties fast.

/** The provider's token. A deployment makes a placeholder without `token`; the operator puts the first one in. */
export class TokenSecret extends Construct {
  readonly secret: secretsmanager.Secret;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const encryptionKey = dataKeyOf(this, settings);
    this.secret = new secretsmanager.Secret(this, "Secret", {
      description: 'Token of the income-data service. Put the first one in as {"token": "<JWT>"}.',
      generateSecretString: { secretStringTemplate: "{}", generateStringKey: "placeholder" },
      ...(encryptionKey && { encryptionKey }),
    });
    acknowledge(this.secret, {
      finding: "AwsSolutions::AwsSolutions-SMG4",
      reason:
        "The refresh function renews the token with the provider on a schedule, before its end, and alarms where it can't.",
    });
  }
}

/** The value that the provider must send in the secret header of each webhook; generated at creation. */
export class WebhookSecret extends Construct {
  readonly secret: secretsmanager.Secret;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const encryptionKey = dataKeyOf(this, settings);
    this.secret = new secretsmanager.Secret(this, "Secret", {
      description: "Secret header of the webhooks. The scheduled registration gives it to the provider.",
      generateSecretString: {
        secretStringTemplate: "{}",
        generateStringKey: "current",
        passwordLength: 48,
        excludePunctuation: true,
      },
      ...(encryptionKey && { encryptionKey }),
    });
    acknowledge(this.secret, {
      finding: "AwsSolutions::AwsSolutions-SMG4",
      reason:
        "The command `secret rotate` renews it, when the operator says so: the former value must be accepted as long as the provider retries, which Secrets Manager's rotation does not know.",
    });
  }
}
