import type { Metric } from "aws-cdk-lib/aws-cloudwatch";
import * as lambda from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import { allow, consumeQueue, writeStatements } from "../function/permissions.ts";
import { type FunctionDefaults, PipelineFunction } from "../function/pipeline-function.ts";
import { maxReceiveCount, visibilityFor, WorkQueue } from "../receiving/work-queue.ts";
import type { Settings } from "../settings/settings.ts";
import type { EventTable } from "../storage/event-table.ts";
import type { OverflowStorage } from "../storage/overflow-storage.ts";
import type { TokenSecret } from "../storage/secrets.ts";
import { FetchAlarms } from "./fetch-alarms.ts";
import { ProviderAlarm } from "./provider-alarm.ts";
import type { TokenRefresh } from "./token-refresh.ts";

export type FetchingProps = {
  readonly settings: Settings;
  readonly defaults: FunctionDefaults;
  readonly providerBaseUrl: string;
  readonly token: TokenSecret;
  readonly overflow: OverflowStorage;
  readonly table: EventTable;
  readonly refresh: TokenRefresh;
};

/** Calls to the provider's API: a queue of its own, so that a slow provider never holds up storing. */
export class Fetching extends Construct {
  readonly work: WorkQueue;
  readonly fetch: PipelineFunction;
  /** How often the provider was found down. */
  readonly down: Metric;

  constructor(scope: Construct, id: string, props: FetchingProps) {
    super(scope, id);
    const { settings } = props;
    const visibilityTimeout = visibilityFor(settings.functions.fetch.timeoutSeconds, settings);
    this.work = new WorkQueue(this, "Work", { settings, visibilityTimeout });
    this.fetch = this.#addFunction(props);
    this.down = new ProviderAlarm(this, "Alarms", this.fetch, settings).down;
    new FetchAlarms(this, "Backlog", this.work, settings);
    new lambda.EventSourceMapping(this, "Source", {
      target: this.fetch.lambda,
      eventSourceArn: this.work.queue.queueArn,
      batchSize: 10,
      maxConcurrency: settings.fetch.maxConcurrency,
      reportBatchItemFailures: true,
    });
  }

  #addFunction({ settings, defaults, providerBaseUrl, token, overflow, table, refresh }: FetchingProps) {
    const { queue, deadLetterQueue } = this.work;
    return new PipelineFunction(this, "Data", {
      ...defaults,
      entry: "functions/fetch/data.ts",
      description: "Calls the provider's API: starts, reads and asks, within its rate",
      size: settings.functions.fetch,
      loopEnds:
        "a task that waits is sent again until the provider is back, or is given up after the longest outage",
      environment: {
        TABLE_NAME: table.table.tableName,
        FETCH_QUEUE_URL: queue.queueUrl,
        DEAD_LETTER_QUEUE_URL: deadLetterQueue.queueUrl,
        OVERFLOW_BUCKET: overflow.bucket.bucketName,
        TOKEN_SECRET_ARN: token.secret.secretArn,
        PROVIDER_BASE_URL: providerBaseUrl,
        REFRESH_FUNCTION_NAME: refresh.lambda.functionName,
      },
      settings: {
        provider: settings.provider,
        retry: settings.fetch.retry,
        timeoutSeconds: settings.functions.fetch.timeoutSeconds,
        readAfterSeconds: settings.fetch.readAfterSeconds,
        longestOutageHours: settings.fetch.longestOutageHours,
        maxReceiveCount,
        startEndpoints: settings.startEndpoints,
      },
      permissions: [
        allow([...consumeQueue, "sqs:ChangeMessageVisibility"], [queue.queueArn]),
        allow(["sqs:SendMessage"], [queue.queueArn, deadLetterQueue.queueArn]),
        allow(
          [
            "dynamodb:GetItem",
            "dynamodb:BatchGetItem",
            "dynamodb:PutItem",
            "dynamodb:Query",
            "dynamodb:UpdateItem",
            ...writeStatements,
          ],
          [table.table.tableArn],
        ),
        allow(["s3:PutObject"], [overflow.data, overflow.pages]),
        allow(["s3:GetObject"], [overflow.pages]),
        allow(["secretsmanager:GetSecretValue"], [token.secret.secretArn]),
        allow(["lambda:InvokeFunction"], [refresh.lambda.functionArn]),
      ],
    });
  }
}
