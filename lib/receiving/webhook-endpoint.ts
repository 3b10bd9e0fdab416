import * as apigateway from "aws-cdk-lib/aws-apigatewayv2";
import { HttpLambdaIntegration } from "aws-cdk-lib/aws-apigatewayv2-integrations";
import * as lambda from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import { type WebhookKind, webhookKinds } from "../../domain/event/events.ts";
import { countedNames, headersOf } from "../../domain/event/mapping.ts";
import { acknowledge } from "../acknowledgements.ts";
import { allow, consumeQueue, writeStatements } from "../function/permissions.ts";
import { type FunctionDefaults, PipelineFunction } from "../function/pipeline-function.ts";
import { metricOfLog } from "../observability/log-metric.ts";
import type { Settings } from "../settings/settings.ts";
import type { EventTable } from "../storage/event-table.ts";
import type { OverflowStorage } from "../storage/overflow-storage.ts";
import type { WebhookSecret } from "../storage/secrets.ts";
import { receivesWhileSaturated, visibilityFor, WorkQueue } from "./work-queue.ts";

export type WebhookEndpointProps = {
  readonly kind: WebhookKind;
  readonly settings: Settings;
  readonly defaults: FunctionDefaults;
  readonly api: apigateway.HttpApi;
  readonly secret: WebhookSecret;
  readonly overflow: OverflowStorage;
  readonly table: EventTable;
  /** Compares the provider's lists with the table; created later. */
  readonly reconciler: { readonly functionName: string; readonly functionArn: string };
};

/** Settings of a function that receives these kinds. */
export function receiverSettings({ webhooks, mapping }: Settings, kinds: readonly WebhookKind[]) {
  const { secretHeader, secretScheme, secretCacheSeconds, sourceAddresses } = webhooks;
  const { maxBodyBytes, answerProbes, credentialFields } = webhooks;
  return {
    ...{ secretHeader, secretScheme, secretCacheSeconds, sourceAddresses },
    ...{ maxBodyBytes, answerProbes, credentialFields },
    mappedHeaders: Object.fromEntries(kinds.map((kind) => [kind, headersOf(mapping[kind])])),
  };
}

/** One kind of webhook, from its route to the table: receiver, queue with DLQ, and consumer. */
export class WebhookEndpoint extends Construct {
  readonly work: WorkQueue;
  readonly receive: PipelineFunction;
  readonly route: apigateway.HttpRoute;
  readonly store: PipelineFunction;
  /** Passes the queue's messages to `store`. */
  readonly source: lambda.EventSourceMapping;

  constructor(scope: Construct, id: string, props: WebhookEndpointProps) {
    super(scope, id);
    const { settings } = props;
    const visibilityTimeout = visibilityFor(settings.functions.store.timeoutSeconds, settings);
    const receives = receivesWhileSaturated(visibilityTimeout, settings);
    this.work = new WorkQueue(this, "Work", { settings, visibilityTimeout, receives });
    this.receive = this.#addReceiver(props);
    this.route = this.#addRoute(props, this.receive);
    this.store = this.#addConsumer(props);
    this.source = new lambda.EventSourceMapping(this, "StoreSource", {
      target: this.store.lambda,
      eventSourceArn: this.work.queue.queueArn,
      batchSize: 10,
      maxConcurrency: storeConcurrency(settings),
      reportBatchItemFailures: true,
      metricsConfig: { metrics: [lambda.MetricType.EVENT_COUNT] },
    });
  }

  #addReceiver(props: WebhookEndpointProps): PipelineFunction {
    const { kind, settings, defaults, secret, overflow, reconciler } = props;
    const { queue, deadLetterQueue } = this.work;
    return new PipelineFunction(this, "Receive", {
      ...defaults,
      name: `receive/${kind}`,
      entry: "functions/receive/webhooks.ts",
      description: `Receives webhooks of ${kind} and makes them durable in their queue`,
      size: settings.functions.receive,
      environment: {
        QUEUE_URL: queue.queueUrl,
        DEAD_LETTER_QUEUE_URL: deadLetterQueue.queueUrl,
        OVERFLOW_BUCKET: overflow.bucket.bucketName,
        WEBHOOK_SECRET_ARN: secret.secret.secretArn,
        RECONCILE_FUNCTION_NAME: reconciler.functionName,
      },
      settings: { kind, ...receiverSettings(settings, [kind]) },
      permissions: [
        allow(["sqs:SendMessage"], [queue.queueArn, deadLetterQueue.queueArn]),
        allow(["s3:PutObject"], [overflow.bodiesOf(kind)]),
        allow(["secretsmanager:GetSecretValue"], [secret.secret.secretArn]),
        allow(["lambda:InvokeFunction"], [reconciler.functionArn]),
      ],
    });
  }

  /** Accepts any method: the receiver answers 405 where API Gateway would answer 404. */
  #addRoute({ kind, api }: WebhookEndpointProps, receiver: PipelineFunction): apigateway.HttpRoute {
    const route = new apigateway.HttpRoute(this, "Route", {
      httpApi: api,
      routeKey: apigateway.HttpRouteKey.with(`/webhooks/${kind}`, apigateway.HttpMethod.ANY),
      integration: new HttpLambdaIntegration("Receiver", receiver.lambda),
    });
    acknowledge(route, {
      finding: "AwsSolutions::AwsSolutions-APIG4",
      reason:
        "The provider can't sign requests for IAM and has no JWT: the receiver itself compares the header with the kind's secret, in constant time, before it reads the body.",
    });
    return route;
  }

  #addConsumer({ kind, settings, defaults, overflow, table }: WebhookEndpointProps): PipelineFunction {
    const { queue, deadLetterQueue } = this.work;
    const store = new PipelineFunction(this, "Store", {
      ...defaults,
      name: `store/${kind}`,
      entry: "functions/store/events.ts",
      description: `Stores events of ${kind}: one write for each receipt`,
      size: settings.functions.store,
      environment: {
        TABLE_NAME: table.table.tableName,
        DEAD_LETTER_QUEUE_URL: deadLetterQueue.queueUrl,
        OVERFLOW_BUCKET: overflow.bucket.bucketName,
      },
      settings: { mapping: settings.mapping[kind], retentionDays: settings.retention.eventsDays },
      permissions: [
        allow(consumeQueue, [queue.queueArn]),
        allow(["sqs:SendMessage"], [deadLetterQueue.queueArn]),
        allow(["dynamodb:BatchGetItem", ...writeStatements], [table.table.tableArn]),
        allow(bodyActions(settings.mapping[kind]), [overflow.bodiesOf(kind)]),
      ],
    });
    if (countedNames(settings.mapping[kind]).length > 0) {
      const by = { dimension: "EventName", field: "name" };
      metricOfLog(store, "EVENT_IGNORED", { field: "count", name: "EventsIgnored", by });
    }
    if (settings.mapping[kind].attributes !== undefined)
      metricOfLog(store, "ATTRIBUTE_LEFT_OUT", { field: "count", name: "AttributesLeftOut" });
    return store;
  }
}

/** Elements of a list are written separately, and a large element becomes an object of its own. */
function bodyActions({ events }: Settings["mapping"][WebhookKind]): readonly string[] {
  return events === undefined ? ["s3:GetObject"] : ["s3:GetObject", "s3:PutObject"];
}

/** Limits of an event source's maximum concurrency. Source: Lambda API reference, "ScalingConfig". */
const minConcurrency = 2;
const maxConcurrency = 1_000;

/**
 * Maximum concurrency of one consumer. All consumers together use half of the account's concurrency, which leaves the
 * rest to the receivers. A new account's 10 are too few for that, because an event source needs at least two.
 */
function storeConcurrency({ accountConcurrency }: Settings): number {
  const share = Math.floor(accountConcurrency / 2 / webhookKinds.length);
  return Math.min(maxConcurrency, Math.max(minConcurrency, share));
}
