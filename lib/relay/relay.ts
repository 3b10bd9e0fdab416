import { Duration } from "aws-cdk-lib";
import type { Metric } from "aws-cdk-lib/aws-cloudwatch";
import * as events from "aws-cdk-lib/aws-events";
import * as targets from "aws-cdk-lib/aws-events-targets";
import * as lambda from "aws-cdk-lib/aws-lambda";
import type * as s3 from "aws-cdk-lib/aws-s3";
import { Construct } from "constructs";
import type { Erasure } from "../erasure/erasure.ts";
import { allow, allowItems, writeStatements } from "../function/permissions.ts";
import { type FunctionDefaults, PipelineFunction } from "../function/pipeline-function.ts";
import { ofEventSource } from "../observability/alarm-metrics.ts";
import type { Fetching } from "../provider/fetching.ts";
import type { ReadApi } from "../reading/read-api.ts";
import { divided, every, wholeDays } from "../settings/durations.ts";
import type { Settings } from "../settings/settings.ts";
import type { EventTable } from "../storage/event-table.ts";
import type { OverflowStorage } from "../storage/overflow-storage.ts";
import { privateBucket } from "../storage/private-bucket.ts";
import { RelayAlarms } from "./relay-alarms.ts";
import type { Subscribers } from "./subscribers.ts";

export type RelayProps = {
  readonly settings: Settings;
  readonly defaults: FunctionDefaults;
  /** Names the stage in each message (CloudEvents' `source`). */
  readonly eventSource: string;
  readonly table: EventTable;
  readonly fetching: Fetching;
  readonly subscribers: Subscribers;
  readonly erasure: Erasure;
  readonly readApi: ReadApi;
  readonly overflow: OverflowStorage;
};

// The stream keeps 24 hours. What is given up at 20 is written to the failures bucket while it still can be.
const longestRecordAge = Duration.hours(20);

const resendEvery = Duration.minutes(5);
/** What a subscriber's queue refuses for longer raises the alarm. */
const parkingLasts = Duration.minutes(15);

/**
 * What has consequences: changes, but of data that is read again and the same; and where DynamoDB deletes an item that has
 * expired, the object that it pointed to. What others delete is an erasure, which sees to objects, or a loss to be restored.
 */
const relayed = [
  changes([{ prefix: "EVENT#" }]),
  changes(["STATE"]),
  changes([{ prefix: "DOCUMENT#" }], { NewImage: { document: { M: { news: { BOOL: [true] } } } } }),
  {
    eventName: ["REMOVE"],
    userIdentity: { principalId: ["dynamodb.amazonaws.com"] },
    dynamodb: {
      Keys: { sk: { S: [{ prefix: "VERSION#" }, { prefix: "SUPERSEDED#" }] } },
      OldImage: { document: { M: { object: { S: [{ exists: true }] } } } },
    },
  },
];

function changes(sortKey: readonly unknown[], image: object = {}): object {
  return { eventName: ["INSERT", "MODIFY"], dynamodb: { Keys: { sk: { S: sortKey } }, ...image } };
}

/** Kinds and endpoints, such as `account/income`. */
function readByRange({ readRange, readCompanyRange }: Settings["provider"]["paths"]): readonly string[] {
  return [
    ...Object.keys(readRange ?? {}).map((endpoint) => `account/${endpoint}`),
    ...Object.keys(readCompanyRange ?? {}).map((endpoint) => `company-account/${endpoint}`),
  ];
}

/** Derives what follows from each change of the table, from its stream: the outbox of the pipeline. */
export class Relay extends Construct {
  /** Whole records that the relay gave up on. */
  readonly failures: s3.Bucket;
  readonly lambda: lambda.Function;
  /** The changes that were handed to the relay. */
  readonly relayed: Metric;

  constructor(scope: Construct, id: string, props: RelayProps) {
    super(scope, id);
    const { settings, table } = props;
    const rules = [{ expiration: wholeDays(settings.retention.failuresDays) }];
    this.failures = privateBucket(this, "Failures", rules, { key: props.defaults.dataKey });
    const relay = this.#addFunction(props);
    this.lambda = relay.lambda;
    const maxRecordAge = divided(longestRecordAge, settings);
    const source = new lambda.EventSourceMapping(this, "Source", {
      target: this.lambda,
      eventSourceArn: table.streamArn,
      startingPosition: lambda.StartingPosition.TRIM_HORIZON,
      batchSize: settings.relay.batchSize,
      // A record that ends the process comes to be alone, where it is marked.
      bisectBatchOnError: true,
      retryAttempts: settings.relay.retryAttempts,
      maxRecordAge,
      // What was given up is counted there only.
      metricsConfig: { metrics: [lambda.MetricType.EVENT_COUNT] },
      reportBatchItemFailures: true,
      filters: relayed.map((pattern) => ({ pattern: JSON.stringify(pattern) })),
      // A queue would get metadata only, which no longer report the record once the stream has dropped it. Not the
      // ready-made S3 destination: it would let the relay read and delete what it gave up on.
      onFailure: { bind: () => ({ destination: this.failures.bucketArn }) },
    });
    this.relayed = ofEventSource(source.eventSourceMappingId, "InvokedEventCount");
    new events.Rule(this, "Resend", {
      description: "Sends again what was parked for subscribers whose queues refused it",
      schedule: every(divided(resendEvery, settings)),
      targets: [
        new targets.LambdaFunction(this.lambda, {
          event: events.RuleTargetInput.fromObject({ resendsParked: true }),
          // The next tick does the same.
          retryAttempts: 0,
        }),
      ],
    });
    new RelayAlarms(this, "Alarms", { settings, relay, source, maxRecordAge });
  }

  #addFunction(props: RelayProps) {
    const { settings, defaults, eventSource, table, fetching, subscribers, erasure } = props;
    const { readApi, overflow } = props;
    const hasInline = settings.subscribers.some(({ documents }) => documents === "inline");
    const works = [...subscribers.queues.values()];
    const { queue: fetchQueue } = fetching.work;
    const { queue: eraseQueue } = erasure.work;
    const sendTo = [fetchQueue, eraseQueue, ...works.map(({ queue }) => queue)];
    return new PipelineFunction(this, "Changes", {
      ...defaults,
      entry: "functions/relay/changes.ts",
      description: "Relays changes of the table: states, fetch tasks, messages to subscribers",
      size: settings.functions.relay,
      environment: {
        TABLE_NAME: table.table.tableName,
        FETCH_QUEUE_URL: fetchQueue.queueUrl,
        ERASE_QUEUE_URL: eraseQueue.queueUrl,
        ERASURE_KEY_ARN: erasure.key.secretArn,
        ...subscribers.environment,
        DOCUMENTS_URL: readApi.url,
        OVERFLOW_BUCKET: overflow.bucket.bucketName,
        FAILURES_BUCKET: this.failures.bucketName,
      },
      settings: {
        eventSource,
        parkingLastsSeconds: divided(parkingLasts, settings).toSeconds(),
        timeoutSeconds: settings.functions.relay.timeoutSeconds,
        erasesOnDeletion: settings.erasure.onDeletion,
        ...([settings.mapping.accounts, settings.mapping["company-accounts"]].some(
          ({ reason }) => reason !== undefined,
        ) && { givesReasons: true }),
        ...(settings.mapping.users.attributes && {
          attributes: { asks: settings.provider.paths.user !== undefined },
        }),
        readByRange: readByRange(settings.provider.paths),
        subscribers: settings.subscribers.map(({ name, types, documents }) => {
          return { name, ...(types && { types }), ...(documents === "inline" && { documents }) };
        }),
        ...(hasInline && { inlineLimit: settings.documents.inlineLimit }),
      },
      permissions: [
        // What Lambda itself needs, as this role, to read the stream and to write to the failure destination
        // (AWS Lambda developer guide, "Process DynamoDB records with Lambda": execution role permissions;
        // "Retain discarded records": s3:PutObject and s3:ListBucket).
        allow(
          ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"],
          [table.streamArn],
        ),
        allow(["dynamodb:ListStreams"], ["*"]),
        allow(["s3:PutObject"], [this.failures.arnForObjects("*")]),
        allow(["s3:GetObject", "s3:DeleteObject"], [this.failures.arnForObjects("aws/lambda/parked-for/*")]),
        allowItems(["dynamodb:UpdateItem"], table.table.tableArn, ["RELAY"]),
        allow(["s3:ListBucket"], [this.failures.bucketArn]),
        allow(["dynamodb:BatchGetItem", ...writeStatements], [table.table.tableArn]),
        allow(["secretsmanager:GetSecretValue"], [erasure.key.secretArn]),
        allow(["s3:DeleteObject", ...(hasInline ? ["s3:GetObject"] : [])], [overflow.data]),
        allow(
          ["sqs:SendMessage"],
          sendTo.map(({ queueArn }) => queueArn),
        ),
      ],
    });
  }
}
