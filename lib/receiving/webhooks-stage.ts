import { Fn, Stack } from "aws-cdk-lib";
import { AccessLogFormat } from "aws-cdk-lib/aws-apigateway";
import * as apigateway from "aws-cdk-lib/aws-apigatewayv2";
import type { Metric } from "aws-cdk-lib/aws-cloudwatch";
import * as logs from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { pipelineName } from "../instance.ts";
import { metricOfLines } from "../observability/log-metric.ts";
import type { Settings } from "../settings/settings.ts";
import { dataKeyOf } from "../storage/encryption.ts";

/** Requests on a path that belongs to no kind. */
export const wrongPathsMetric = "WebhookWrongPath";

/** Throttle of $default, the route of all other paths. Strangers try them, and each request invokes a function. */
const throttleOfOtherPaths = { perSecond: 50, burst: 100 };

/** Logged fields of each request: no header, no body, no path below a route. */
const accessLogFields = {
  requestId: "$context.requestId",
  time: "$context.requestTimeEpoch",
  route: "$context.routeKey",
  status: "$context.status",
  latencyMs: "$context.responseLatency",
  bytes: "$context.dataProcessed",
  sourceIp: "$context.identity.sourceIp",
  error: "$context.error.message",
};

export type WebhooksStageProps = { readonly api: apigateway.HttpApi; readonly settings: Settings };

/** The API's only stage. It throttles each route by itself and logs each request without its content. */
export class WebhooksStage extends Construct {
  readonly stage: apigateway.HttpStage;
  /** Throttled requests, for which API Gateway has no metric. */
  readonly throttled: Metric;

  constructor(scope: Construct, id: string, { api, settings }: WebhooksStageProps) {
    super(scope, id);
    const { requestsPerSecond, burst } = settings.webhooks.throttle;
    const encryptionKey = dataKeyOf(this, settings);
    const logGroup = new logs.LogGroup(this, "AccessLog", {
      logGroupName: accessLogName(this),
      retention: settings.retention.logsDays,
      ...(encryptionKey && { encryptionKey }),
    });
    this.throttled = metricOfLines(
      this,
      logGroup,
      { field: "status", texts: ["429"] },
      { name: "WebhookThrottled" },
    );
    metricOfLines(this, logGroup, { field: "status", texts: ["404"] }, { name: wrongPathsMetric });
    this.stage = new apigateway.HttpStage(this, "Stage", {
      httpApi: api,
      stageName: "$default",
      autoDeploy: true,
      throttle: { rateLimit: requestsPerSecond, burstLimit: burst },
      accessLogSettings: {
        destination: new apigateway.LogGroupLogDestination(logGroup),
        format: AccessLogFormat.custom(JSON.stringify(accessLogFields)),
      },
    });
    const { perSecond, burst: atOnce } = throttleOfOtherPaths;
    const resource = this.stage.node.defaultChild;
    if (!(resource instanceof apigateway.CfnStage)) throw new Error("The stage has no resource");
    resource.routeSettings = {
      $default: {
        ThrottlingRateLimit: Math.min(perSecond, requestsPerSecond),
        ThrottlingBurstLimit: Math.min(atOnce, burst),
      },
    };
  }
}

/**
 * Name of the access log group. API Gateway adds each log group to an account policy of at most 5,120 characters; once
 * that is nearly full, CloudWatch Logs allows everything below this path instead. The stack's id in the name avoids a
 * conflict with the log group of a deleted stack. Source: Step Functions developer guide, "Avoiding Amazon CloudWatch
 * Logs resource policy size restrictions"; CloudWatch Logs user guide, "Enable logging from AWS services".
 */
function accessLogName(scope: Construct): string {
  const { stackId } = Stack.of(scope);
  return Fn.join("/", ["/aws/vendedlogs", pipelineName(scope), Fn.select(2, Fn.split("/", stackId))]);
}
