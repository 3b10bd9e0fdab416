import { Duration } from "aws-cdk-lib";
import type { Metric } from "aws-cdk-lib/aws-cloudwatch";
import * as events from "aws-cdk-lib/aws-events";
import * as targets from "aws-cdk-lib/aws-events-targets";
import * as lambda from "aws-cdk-lib/aws-lambda";
import type * as s3 from "aws-cdk-lib/aws-s3";
import { Construct } from "constructs";
import { nameOfData } from "../../domain/fetch/document.ts";
import type { ReadinessSettings } from "../../domain/readiness/readiness.ts";
import type { Canary } from "../canary/canary.ts";
import type { Erasure } from "../erasure/erasure.ts";
import { allow, allowItems, writeStatements } from "../function/permissions.ts";
import { type FunctionDefaults, PipelineFunction } from "../function/pipeline-function.ts";
import { pipelineName } from "../instance.ts";
import { Alarm } from "../observability/alarm.ts";
import { relayLag } from "../observability/alarm-limits.ts";
import {
  failedEvents,
  firstWithoutSecond,
  logsSince,
  ofEventSource,
  sumOf,
} from "../observability/alarm-metrics.ts";
import { eventsStored, metricOfCodes } from "../observability/log-metric.ts";
import type { Fetching } from "../provider/fetching.ts";
import type { Readiness } from "../readiness/readiness.ts";
import type { ReadApi } from "../reading/read-api.ts";
import { divided, every, inWords, wholeDays } from "../settings/durations.ts";
import type { Settings } from "../settings/settings.ts";
import type { EventTable } from "../storage/event-table.ts";
import type { OverflowStorage } from "../storage/overflow-storage.ts";
import { backedUp, privateBucket } from "../storage/private-bucket.ts";
import type { Subscribers } from "./subscribers.ts";

export type RelayAlarmsProps = {
  readonly settings: Pick<Settings, "divideDurationsBy">;
  readonly relay: PipelineFunction;
  readonly source: lambda.EventSourceMapping;
  /** Number of events that were stored. */
  readonly stored: Metric;
  /** Lambda does not retry older changes. */
  readonly maxRecordAge: Duration;
};

/** Alerts the operator when effects of table changes are late or do not happen. */
export class RelayAlarms extends Construct {
  constructor(scope: Construct, id: string, props: RelayAlarmsProps) {
    super(scope, id);
    const { settings, relay, source, stored, maxRecordAge } = props;
    const limit = relayLag(maxRecordAge);
    const period = Duration.seconds(Math.ceil(300 / settings.divideDurationsBy));
    new Alarm(this, "Behind", {
      entry: "relay-behind",
      // In milliseconds, for the last record of each batch.
      metric: relay.lambda.metric("IteratorAge", { statistic: "Maximum" }),
      impact:
        `Stored changes are relayed at least ${inWords(limit)} late: delivery and fetches of new accounts are delayed. ` +
        `Changes older than ${inWords(maxRecordAge)} are not retried; repair relays them.`,
      remedy: `See why: ${logsSince("1h")}`,
      period,
      threshold: limit.toMilliseconds(),
      breaching: 1,
      outOf: 1,
    });
    // The other alarms have no values while Lambda reads nothing from the stream.
    new Alarm(this, "Stopped", {
      entry: "relay-stopped",
      metric: firstWithoutSecond(stored, ofEventSource(source.eventSourceMappingId, "InvokedEventCount")),
      impact:
        "Events are stored, but no change of the table reaches the relay: subscribers get no messages, and no data is " +
        "fetched. The stream drops changes after 24 hours.",
      remedy: "Find the cause: npx income-events doctor",
      period,
      // A stage may store an event only every 15 minutes. A single one may be stored at the end of a period and relayed in
      // the next.
      breaching: 3,
      outOf: 12,
    });
    new Alarm(this, "Failing", {
      entry: "relay-failing",
      metric: failedEvents(source),
      impact:
        "Changes of the table repeatedly fail to be relayed: messages and fetches of some accounts wait. Changes older " +
        `than ${inWords(maxRecordAge)} are not retried; repair relays them.`,
      remedy: `See why: ${logsSince("1h")}`,
      period,
      breaching: 2,
      outOf: 3,
    });
    new Alarm(this, "GaveUp", {
      entry: "undelivered-changes",
      metric: sumOf([
        // Changes that don't reach the bucket either are not counted: they failed for hours, as the alarms above show.
        ofEventSource(source.eventSourceMappingId, "OnFailureDestinationDeliveredEventCount"),
        metricOfCodes(relay, "RecordParked", ["RECORD_PARKED", "SUBSCRIBER_UNREACHABLE"]),
      ]),
      impact:
        "The relay parked changes of the table, or stopped retrying them: their states, fetches and messages are missing. " +
        "Or a subscriber's queue has refused messages for 15 minutes.",
      remedy: "Relay them: npx income-events repair --failures",
      period,
      breaching: 1,
      outOf: 1,
    });
  }
}

export type RelayProps = {
  readonly settings: Settings;
  readonly defaults: FunctionDefaults;
  /** CloudEvents `source` of each message, which names the stage. */
  readonly eventSource: string;
  readonly table: EventTable;
  readonly stores: readonly PipelineFunction[];
  readonly fetching: Fetching;
  /** Undefined without the setting `readiness`. */
  readonly readiness: Readiness | undefined;
  /** Undefined without the setting `canary`. */
  readonly canary: Canary | undefined;
  readonly subscribers: Subscribers;
  readonly erasure: Erasure;
  readonly readApi: ReadApi;
  readonly overflow: OverflowStorage;
};

// The stream keeps records for 24 hours. At 20 hours they go to the failures bucket, while they can still be read.
const longestRecordAge = Duration.hours(20);

const resendEvery = Duration.minutes(5);
/** A subscriber's queue that refuses messages for longer raises the alarm. */
const parkingLasts = Duration.minutes(15);

/**
 * When an item expires, its object is deleted, too. The relay compares `expiresAt` with the time of the deletion. Trap:
 * `userIdentity` names DynamoDB only in the region that deleted the item, so with a replica it would miss expiries.
 * Source: DynamoDB developer guide, "DynamoDB Streams and Time to Live".
 */
const expired = {
  eventName: ["REMOVE"],
  dynamodb: {
    Keys: { sk: { S: [{ prefix: "VERSION#" }, { prefix: "SUPERSEDED#" }] } },
    OldImage: {
      document: { M: { object: { S: [{ exists: true }] } } },
      expiresAt: { N: [{ exists: true }] },
    },
  },
};

/**
 * Stream filters of the changes that have effects: all but data that was read again unchanged, and items that expire.
 * Other deletions are erasures, which delete objects themselves, or a loss that must be restored.
 */
function relayedBy({ readiness, canary }: Settings): readonly object[] {
  const common = [
    changes([{ prefix: "EVENT#" }, ...(canary === undefined ? [] : [{ prefix: "CANARY#" }])]),
    changes(["STATE", ...(readiness === undefined ? [] : ["READINESS"])]),
    changes([{ prefix: "DOCUMENT#" }], { NewImage: { document: { M: { news: { BOOL: [true] } } } } }),
    expired,
  ];
  if (readiness === undefined) return common;
  // A new connection can become ready with unchanged data.
  const names = readiness.endpoints.map((endpoint) => `DOCUMENT#${nameOfData({ endpoint }, "#")}`);
  return [...common, changes(names)];
}

function changes(sortKey: readonly unknown[], image: object = {}): object {
  return { eventName: ["INSERT", "MODIFY"], dynamodb: { Keys: { sk: { S: sortKey } }, ...image } };
}

/** Kinds and endpoints that are read by range, such as `account/income`. */
function readByRange({ readRange, readCompanyRange }: Settings["provider"]["paths"]): readonly string[] {
  return [
    ...Object.keys(readRange ?? {}).map((endpoint) => `account/${endpoint}`),
    ...Object.keys(readCompanyRange ?? {}).map((endpoint) => `company-account/${endpoint}`),
  ];
}

function readinessOf({
  deadlineHours,
  staleDays: _,
  ...rest
}: NonNullable<Settings["readiness"]>): ReadinessSettings {
  return { ...rest, deadlineSeconds: deadlineHours * 3_600 };
}

/** Derives the effects of each table change from the stream, which is the pipeline's outbox. */
export class Relay extends Construct {
  /** Undelivered changes, as whole records. */
  readonly failures: s3.Bucket;
  readonly lambda: lambda.Function;
  /** Number of changes that were passed to the relay. */
  readonly relayed: Metric;

  constructor(scope: Construct, id: string, props: RelayProps) {
    super(scope, id);
    const { settings, table } = props;
    const rules = [{ expiration: wholeDays(settings.retention.failuresDays) }];
    this.failures = privateBucket(this, "Failures", rules, {
      key: props.defaults.dataKey,
      ...backedUp(settings),
    });
    const relay = this.#addFunction(props);
    this.lambda = relay.lambda;
    const maxRecordAge = divided(longestRecordAge, settings);
    const source = new lambda.EventSourceMapping(this, "Source", {
      target: this.lambda,
      eventSourceArn: table.streamArn,
      startingPosition: lambda.StartingPosition.TRIM_HORIZON,
      batchSize: settings.relay.batchSize,
      // Isolates a record that crashes the process, so that it can be marked.
      bisectBatchOnError: true,
      retryAttempts: settings.relay.retryAttempts,
      maxRecordAge,
      // No other metric counts undelivered changes.
      metricsConfig: { metrics: [lambda.MetricType.EVENT_COUNT] },
      reportBatchItemFailures: true,
      filters: relayedBy(settings).map((pattern) => ({ pattern: JSON.stringify(pattern) })),
      // A queue would get only metadata, which is useless once the stream has dropped the record. CDK's S3 destination
      // would let the relay read and delete undelivered changes.
      onFailure: { bind: () => ({ destination: this.failures.bucketArn }) },
    });
    this.relayed = ofEventSource(source.eventSourceMappingId, "InvokedEventCount");
    new events.Rule(this, "Resend", {
      description: "Sends again what was parked for subscribers whose queues refused it",
      schedule: every(divided(resendEvery, settings)),
      targets: [
        new targets.LambdaFunction(this.lambda, {
          event: events.RuleTargetInput.fromObject({ resendsParked: true }),
          // The next tick retries.
          retryAttempts: 0,
        }),
      ],
    });
    const stored = eventsStored(props.stores);
    new RelayAlarms(this, "Alarms", { settings, relay, source, stored, maxRecordAge });
  }

  #addFunction(props: RelayProps) {
    const { settings, defaults, eventSource, table, fetching, subscribers, erasure } = props;
    const { readApi, overflow, readiness, canary } = props;
    const hasInline = settings.subscribers.some(({ documents }) => documents === "inline");
    const works = [...subscribers.queues.values()];
    const { queue: fetchQueue } = fetching.work;
    const { queue: eraseQueue } = erasure.work;
    const sendTo = [
      fetchQueue,
      eraseQueue,
      ...(readiness === undefined ? [] : [readiness.work.queue]),
      ...(canary === undefined ? [] : [canary.queue]),
      ...works.map(({ queue }) => queue),
    ];
    return new PipelineFunction(this, "Changes", {
      ...defaults,
      entry: "functions/relay/changes.ts",
      description: "Relays changes of the table: states, fetch tasks, messages to subscribers",
      size: settings.functions.relay,
      environment: {
        TABLE_NAME: table.table.tableName,
        FETCH_QUEUE_URL: fetchQueue.queueUrl,
        ERASE_QUEUE_URL: eraseQueue.queueUrl,
        ...(readiness && { DEADLINE_QUEUE_URL: readiness.work.queue.queueUrl }),
        ...(canary && { CANARY_QUEUE_URL: canary.queue.queueUrl }),
        ERASURE_KEY_ARN: erasure.key.secretArn,
        ...subscribers.environment,
        DOCUMENTS_URL: readApi.url,
        OVERFLOW_BUCKET: overflow.bucket.bucketName,
        FAILURES_BUCKET: this.failures.bucketName,
        METRICS_NAMESPACE: pipelineName(this),
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
        ...(settings.readiness && { readiness: readinessOf(settings.readiness) }),
        subscribers: settings.subscribers.map(({ name, types, documents }) => {
          return { name, ...(types && { types }), ...(documents === "inline" && { documents }) };
        }),
        ...(hasInline && { inlineLimit: settings.documents.inlineLimit }),
      },
      permissions: [
        // Lambda itself needs these, as this role, to read the stream and to write to the failure destination (AWS
        // Lambda developer guide, "Process DynamoDB records with Lambda": execution role permissions; "Retain discarded
        // records": s3:PutObject and s3:ListBucket).
        allow(
          ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"],
          [table.streamArn],
        ),
        allow(["dynamodb:ListStreams"], ["*"]),
        allow(["s3:PutObject"], [this.failures.arnForObjects("*")]),
        allow(["s3:GetObject", "s3:DeleteObject"], [this.failures.arnForObjects("aws/lambda/parked-for/*")]),
        allowItems(["dynamodb:UpdateItem"], table.table.tableArn, ["RELAY"]),
        allow(["s3:ListBucket"], [this.failures.bucketArn]),
        allow(
          ["dynamodb:BatchGetItem", ...(readiness ? ["dynamodb:Query"] : []), ...writeStatements],
          [table.table.tableArn],
        ),
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
