import { Duration, RemovalPolicies, RemovalPolicy } from "aws-cdk-lib";
import * as events from "aws-cdk-lib/aws-events";
import * as targets from "aws-cdk-lib/aws-events-targets";
import * as sqs from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { acknowledge } from "../acknowledgements.ts";
import { allow } from "../function/permissions.ts";
import { type FunctionDefaults, PipelineFunction } from "../function/pipeline-function.ts";
import { Alarm } from "../observability/alarm.ts";
import { logsSince } from "../observability/alarm-metrics.ts";
import { encryptionOf } from "../receiving/work-queue.ts";
import { every, wholeSeconds } from "../settings/durations.ts";
import type { Settings } from "../settings/settings.ts";
import type { WebhookSecret } from "../storage/secrets.ts";

export type CanaryProps = {
  readonly settings: Settings;
  readonly canary: NonNullable<Settings["canary"]>;
  readonly defaults: FunctionDefaults;
  readonly webhooksUrl: string;
  readonly secret: WebhookSecret;
};

/** Time for the webhook and the last poll of the queue. */
const reservedSeconds = 60;

/**
 * Sends a synthetic webhook through the pipeline on a schedule, and waits for it on a queue of its own. Subscribers
 * don't get it.
 */
export class Canary extends Construct {
  readonly queue: sqs.Queue;

  constructor(scope: Construct, id: string, props: CanaryProps) {
    super(scope, id);
    const { settings, defaults, webhooksUrl, secret } = props;
    const { everyMinutes, withinSeconds } = props.canary;
    const { secretHeader, secretScheme } = settings.webhooks;
    this.queue = new sqs.Queue(this, "Queue", {
      ...encryptionOf(this, settings),
      enforceSSL: true,
      retentionPeriod: wholeSeconds(Duration.seconds(withinSeconds)),
    });
    acknowledge(this.queue, {
      finding: "AwsSolutions::AwsSolutions-SQS3",
      reason: "A canary that its run did not receive has failed and is not processed later.",
    });
    // Unlike other queues, it holds nothing to retain.
    RemovalPolicies.of(this).apply(RemovalPolicy.DESTROY, {
      applyToResourceTypes: ["AWS::SQS::Queue", "AWS::SQS::QueuePolicy"],
    });
    const sender = new PipelineFunction(this, "Events", {
      ...defaults,
      entry: "functions/canary/events.ts",
      description: "Sends a synthetic webhook through the pipeline, and waits for it",
      size: { memoryMb: 256, timeoutSeconds: withinSeconds + reservedSeconds },
      environment: {
        WEBHOOK_SECRET_ARN: secret.secret.secretArn,
        WEBHOOKS_URL: webhooksUrl,
        CANARY_QUEUE_URL: this.queue.queueUrl,
      },
      settings: { secretHeader, secretScheme, withinSeconds },
      permissions: [
        allow(["secretsmanager:GetSecretValue"], [secret.secret.secretArn]),
        allow(["sqs:ReceiveMessage", "sqs:DeleteMessage"], [this.queue.queueArn]),
      ],
      // Each failed run counts for the alarm.
      retryAttempts: 0,
    });
    const period = Duration.minutes(Math.max(1, Math.round(everyMinutes)));
    new events.Rule(this, "Schedule", {
      description: "Sends a synthetic webhook through the pipeline",
      schedule: every(period),
      targets: [new targets.LambdaFunction(sender.lambda)],
    });
    new Alarm(this, "Missing", {
      entry: "canary-missing",
      metric: sender.lambda.metricErrors({ statistic: "Sum" }),
      impact:
        `The canary's synthetic webhook was refused, or took more than ${withinSeconds} s to its queue: the provider's ` +
        "webhooks are refused or delayed as well.",
      remedy: `See the reason: ${logsSince("3h")}`,
      period,
      breaching: 1,
      outOf: 1,
    });
  }
}
