import * as secretsmanager from "aws-cdk-lib/aws-secretsmanager";
import { Construct } from "constructs";
import { acknowledge } from "../acknowledgements.ts";
import type { Settings } from "../settings/settings.ts";
import { dataKeyOf } from "./encryption.ts";

// Trap: CloudFormation replaces the current value with a new one if anything in generateSecretString changes. The
// baseline of the tests guards these properties.

/** The provider's token. A deployment creates a placeholder without `token`; the operator sets the first token. */
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

/** Secret of the webhooks' secret header, generated at creation. */
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
