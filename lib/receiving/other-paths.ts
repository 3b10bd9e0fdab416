import * as apigateway from "aws-cdk-lib/aws-apigatewayv2";
import { HttpLambdaIntegration } from "aws-cdk-lib/aws-apigatewayv2-integrations";
import { Construct } from "constructs";
import type { WebhookKind } from "../../domain/event/events.ts";
import { acknowledge } from "../acknowledgements.ts";
import { allow } from "../function/permissions.ts";
import { PipelineFunction } from "../function/pipeline-function.ts";
import { receiverSettings, type WebhookEndpoint, type WebhookEndpointProps } from "./webhook-endpoint.ts";

export type OtherPathsProps = Omit<WebhookEndpointProps, "kind" | "table"> & {
  readonly receiving: ReadonlyMap<WebhookKind, WebhookEndpoint>;
};

/**
 * Receives webhooks on paths without a route of their own. Routes match exactly, and a trailing slash makes another
 * path. Source: API Gateway developer guide, "Create routes for HTTP APIs in API Gateway".
 */
export class OtherPaths extends Construct {
  readonly receive: PipelineFunction;
  readonly route: apigateway.HttpRoute;

  constructor(scope: Construct, id: string, props: OtherPathsProps) {
    super(scope, id);
    const { settings, defaults, api, secret, overflow, reconciler, receiving } = props;
    // Reserved concurrency is for registered paths only.
    const { reservedConcurrency: _, ...size } = settings.functions.receive;
    this.receive = new PipelineFunction(this, "Receive", {
      ...defaults,
      name: "receive/other-paths",
      entry: "functions/receive/webhooks.ts",
      description:
        "Receives webhooks by paths in other letters or with a slash at the end, and answers 404 to others",
      size,
      environment: {
        ...Object.fromEntries(
          [...receiving].flatMap(([kind, { work }]) => {
            const prefix = kind.toUpperCase().replaceAll("-", "_");
            return [
              [`${prefix}_QUEUE_URL`, work.queue.queueUrl],
              [`${prefix}_DEAD_LETTER_QUEUE_URL`, work.deadLetterQueue.queueUrl],
            ];
          }),
        ),
        OVERFLOW_BUCKET: overflow.bucket.bucketName,
        WEBHOOK_SECRET_ARN: secret.secret.secretArn,
        RECONCILE_FUNCTION_NAME: reconciler.functionName,
      },
      settings: receiverSettings(settings, [...receiving.keys()]),
      permissions: [
        allow(
          ["sqs:SendMessage"],
          [...receiving.values()].flatMap(({ work }) => [work.queue.queueArn, work.deadLetterQueue.queueArn]),
        ),
        allow(
          ["s3:PutObject"],
          [...receiving.keys()].map((kind) => overflow.bodiesOf(kind)),
        ),
        allow(["secretsmanager:GetSecretValue"], [secret.secret.secretArn]),
        allow(["lambda:InvokeFunction"], [reconciler.functionArn]),
      ],
    });
    this.route = new apigateway.HttpRoute(this, "Route", {
      httpApi: api,
      routeKey: apigateway.HttpRouteKey.DEFAULT,
      integration: new HttpLambdaIntegration("Receiver", this.receive.lambda),
    });
    acknowledge(this.route, {
      finding: "AwsSolutions::AwsSolutions-APIG4",
      reason:
        "It takes the same webhooks as the routes of each kind, whose secret the receiver compares itself; all else is answered 404 and 405 without effect.",
    });
  }
}
