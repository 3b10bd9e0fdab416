import * as lambda from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import { subscriberTag } from "../../domain/message/message.ts";
import { allow, allowTagged, consumeQueue, findQueues, searchQueue } from "../function/permissions.ts";
import { type FunctionDefaults, PipelineFunction } from "../function/pipeline-function.ts";
import { pipelineName } from "../instance.ts";
import { Alarm } from "../observability/alarm.ts";
import { failurePeriod } from "../observability/alarm-limits.ts";
import { failedEvents, logsSince } from "../observability/alarm-metrics.ts";
import type { WorkQueue } from "../receiving/work-queue.ts";
import { deadLetterQueueNames } from "../receiving/work-queues.ts";
import type { Relay } from "../relay/relay.ts";
import type { Subscribers } from "../relay/subscribers.ts";
import type { Settings } from "../settings/settings.ts";
import type { DeadLetterArchive } from "../storage/dead-letter-archive.ts";
import type { EventTable } from "../storage/event-table.ts";
import { longestInQueuesInDays, type OverflowStorage } from "../storage/overflow-storage.ts";
import type { Erasure } from "./erasure.ts";

export type EraserProps = {
  readonly settings: Settings;
  readonly defaults: FunctionDefaults;
  readonly eventSource: string;
  readonly erasure: Erasure;
  readonly table: EventTable;
  readonly overflow: OverflowStorage;
  readonly relay: Relay;
  readonly archive: DeadLetterArchive;
  /** Queues whose dead letters are searched, by their names in commands. */
  readonly works: ReadonlyMap<string, WorkQueue>;
  readonly subscribers: Subscribers;
};

/** Deletes users and accounts from everything that stores their data. */
export class Eraser extends Construct {
  constructor(scope: Construct, id: string, props: EraserProps) {
    super(scope, id);
    const { work } = props.erasure;
    const erase = this.#addFunction(props);
    const source = new lambda.EventSourceMapping(this, "Source", {
      target: erase.lambda,
      eventSourceArn: work.queue.queueArn,
      // Each message is one step of an erasure and may use the function's whole time.
      batchSize: 1,
      maxConcurrency: 2,
      reportBatchItemFailures: true,
      metricsConfig: { metrics: [lambda.MetricType.EVENT_COUNT] },
    });
    new Alarm(this, "Failing", {
      entry: "erasure-failing",
      metric: failedEvents(source),
      impact:
        "Erasures fail repeatedly: data of a person to erase is still stored. Each is retried for 12 hours and then " +
        "becomes a dead letter.",
      remedy: `To see why: ${logsSince("6h")}`,
      period: failurePeriod(work.visibilityTimeout, props.settings),
      breaching: 2,
      outOf: 3,
    });
  }

  #addFunction({
    settings,
    defaults,
    eventSource,
    erasure,
    table,
    overflow,
    relay,
    archive,
    works,
    subscribers,
  }: EraserProps) {
    const { queue, deadLetterQueue } = erasure.work;
    const subscriberQueues = [...subscribers.queues.values()].flatMap((work) => [
      work.queue,
      work.deadLetterQueue,
    ]);
    const isVersioned = settings.recovery !== undefined;
    const remove = ["s3:DeleteObject", ...(isVersioned ? ["s3:DeleteObjectVersion"] : [])];
    const buckets = [overflow.bucket, relay.failures, archive.bucket];
    return new PipelineFunction(this, "Subjects", {
      ...defaults,
      entry: "functions/erase/subjects.ts",
      description:
        "Erases users and accounts: records, data, objects, dead letters; and notifies subscribers",
      size: settings.functions.erase,
      loopEnds:
        "each message of an erasure does the next of its steps, in two passes with a bounded number of looks",
      environment: {
        TABLE_NAME: table.table.tableName,
        ERASE_QUEUE_URL: queue.queueUrl,
        DEAD_LETTER_QUEUE_URL: deadLetterQueue.queueUrl,
        OVERFLOW_BUCKET: overflow.bucket.bucketName,
        FAILURES_BUCKET: relay.failures.bucketName,
        ERASURE_LOG_BUCKET: erasure.log.bucketName,
        ERASURE_KEY_ARN: erasure.key.secretArn,
        ARCHIVE_BUCKET: archive.bucket.bucketName,
        PIPELINE_NAME: pipelineName(this),
        DEAD_LETTER_QUEUES: deadLetterQueueNames(works),
        ...subscribers.environment,
      },
      settings: {
        eventSource,
        tombstoneDays: tombstoneDays(settings),
        drainSeconds: drainSeconds(settings),
        queues: [...works.keys()],
        ...(isVersioned && { isVersioned }),
        recheckSeconds: settings.functions.erase.timeoutSeconds / 5,
        subscribers: settings.subscribers.map(({ name, types }) => ({ name, ...(types && { types }) })),
      },
      permissions: [
        allow(consumeQueue, [queue.queueArn]),
        allow(
          ["sqs:SendMessage"],
          [queue, deadLetterQueue, ...subscriberQueues].map(({ queueArn }) => queueArn),
        ),
        allow(
          ["dynamodb:Query", "dynamodb:DeleteItem", "dynamodb:UpdateItem", "dynamodb:PutItem"],
          [table.table.tableArn],
        ),
        allow(
          searchQueue,
          [...works.values()].map((work) => work.deadLetterQueue.queueArn),
        ),
        // Dead-letter queues of subscribers, including removed ones.
        allow(findQueues, ["*"]),
        allowTagged(searchQueue, subscriberTag, pipelineName(this)),
        allow(
          ["s3:ListBucket", ...(isVersioned ? ["s3:ListBucketVersions"] : [])],
          buckets.map(({ bucketArn }) => bucketArn),
        ),
        allow(["s3:GetObject"], [overflow.bodies]),
        allow(["s3:GetObject", ...remove], [archive.bucket.arnForObjects("dead-letters/*")]),
        allow(remove, [overflow.bodies, overflow.data, overflow.pages]),
        allow(["s3:GetObject", "s3:PutObject", ...remove], [relay.failures.arnForObjects("*")]),
        allow(["s3:PutObject"], [erasure.log.arnForObjects("erased/*")]),
        allow(["secretsmanager:GetSecretValue"], [erasure.key.secretArn]),
      ],
    });
  }
}

/**
 * Days for which a copy of erased data can reappear: until the provider's last retry, in a queue and its dead-letter
 * queue, then in the archive or as an undelivered change, and after a redrive in queues again.
 */
export function tombstoneDays({ webhooks, retention }: Settings): number {
  const laidAsideInDays = Math.max(retention.archiveDays, retention.failuresDays);
  return webhooks.retryHours / 24 + longestInQueuesInDays + laidAsideInDays + longestInQueuesInDays;
}

/** Maximum delay of an SQS message, in seconds. No function runs longer. */
const longestDelayInSeconds = 900;

/**
 * Seconds for which a running function can still write what no stream announces (the relay's links; the fetcher's data,
 * claims and pages), or hold dead letters (another erasure, the archiver).
 */
export function drainSeconds({ functions: { relay, fetch, erase, archive } }: Settings): number {
  const longest = Math.max(...[relay, fetch, erase, archive].map(({ timeoutSeconds }) => timeoutSeconds));
  return Math.min(longestDelayInSeconds, longest);
}
