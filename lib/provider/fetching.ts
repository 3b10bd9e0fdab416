import { Duration } from "aws-cdk-lib";
import type { Metric } from "aws-cdk-lib/aws-cloudwatch";
import * as lambda from "aws-cdk-lib/aws-lambda";
import type { Secret } from "aws-cdk-lib/aws-secretsmanager";
import { Construct } from "constructs";
import { maxReceiveCount } from "../../domain/fetch/task.ts";
import { allow, consumeQueue, writeStatements } from "../function/permissions.ts";
import { type FunctionDefaults, PipelineFunction } from "../function/pipeline-function.ts";
import { pipelineName } from "../instance.ts";
import { Alarm } from "../observability/alarm.ts";
import { failurePeriod, fetchBacklog } from "../observability/alarm-limits.ts";
import { deadLetters, logsSince, oldestMessage, sumOf } from "../observability/alarm-metrics.ts";
import { metricOfLog } from "../observability/log-metric.ts";
import { visibilityFor, WorkQueue } from "../receiving/work-queue.ts";
import { inWords } from "../settings/durations.ts";
import type { Settings } from "../settings/settings.ts";
import type { EventTable } from "../storage/event-table.ts";
import type { OverflowStorage } from "../storage/overflow-storage.ts";
import type { TokenSecret } from "../storage/secrets.ts";
import type { TokenRefresh } from "./token-refresh.ts";

/** The alarm is raised after a quarter of the longest outage. */
const partOfOutage = 4;

type FetchParts = { readonly work: WorkQueue; readonly checks: WorkQueue; readonly fetch: PipelineFunction };

/** Alerts the operator when calls to the provider are late, too many, or failed for good. */
export class FetchAlarms extends Construct {
  constructor(scope: Construct, id: string, { work, checks, fetch }: FetchParts, settings: Settings) {
    super(scope, id);
    const limit = Duration.seconds(Math.ceil((settings.fetch.longestOutageHours * 3_600) / partOfOutage));
    const period = Duration.minutes(5);
    new Alarm(this, "Late", {
      entry: "fetching-late",
      metric: oldestMessage(work),
      impact:
        `A call to the provider has waited for ${inWords(limit)}: new accounts and income data are not fetched. ` +
        "Calls wait; nothing is lost.",
      remedy: "Find the cause: npx income-events doctor",
      period,
      threshold: limit.toSeconds(),
      breaching: 1,
      outOf: 1,
    });
    const { requestsPerMinute } = settings.provider;
    const { queue } = work;
    const statistic = { statistic: "Maximum" };
    new Alarm(this, "Long", {
      entry: "fetching-behind",
      metric: sumOf([
        queue.metricApproximateNumberOfMessagesVisible(statistic),
        queue.metricApproximateNumberOfMessagesNotVisible(statistic),
      ]),
      impact:
        "More calls to the provider wait than its rate limit allows in an hour: new accounts and income data are " +
        "fetched late. The queue drains when fewer calls arrive.",
      remedy: "Check whether the queue grows: npx income-events status",
      period,
      threshold: fetchBacklog(requestsPerMinute),
      breaching: 1,
      outOf: 1,
    });
    new Alarm(this, "Failing", {
      entry: "fetching-failing",
      // Counts crashes only, because a task that waits is also reported as a failed item.
      metric: fetch.lambda.metricErrors({ statistic: "Sum" }),
      impact:
        "The function that calls the provider repeatedly crashes or times out: new accounts and income data are not " +
        "fetched. Calls wait; nothing is lost.",
      remedy: `To see why: ${logsSince("1h")}`,
      period: failurePeriod(work.visibilityTimeout, settings),
      breaching: 2,
      outOf: 3,
    });
    new Alarm(this, "DeadLetters", {
      entry: "fetching-dead-letters",
      metric: sumOf([deadLetters(work), deadLetters(checks)]),
      impact:
        "Calls to the provider failed permanently: the income data or the state of those accounts is not fetched until " +
        "you redrive them.",
      remedy: "Show them with their reasons: npx income-events dlq show fetch",
      period,
      breaching: 1,
      outOf: 1,
    });
  }
}

export type FetchingProps = {
  readonly settings: Settings;
  readonly defaults: FunctionDefaults;
  readonly providerBaseUrl: string;
  readonly token: TokenSecret;
  /** Identifies who was erased, for whom no calls are made. */
  readonly erasureKey: Secret;
  readonly overflow: OverflowStorage;
  readonly table: EventTable;
  readonly refresh: TokenRefresh;
};

/** Settings of readiness that the function needs. */
function readinessOf({ endpoints, minDays }: NonNullable<Settings["readiness"]>) {
  return { endpoints, ...(minDays !== undefined && { minDays }) };
}

function keepsVersions({ retention }: Settings): boolean {
  return retention.documentVersionsDays > 0;
}

/** Calls to the provider's API, with a queue of their own, so that a slow provider never delays storing. */
export class Fetching extends Construct {
  /** Tasks. Those of one document are handled in order. */
  readonly work: WorkQueue;
  /** Checks of started fetches, invisible until they are due. In `work` they would block the tasks after them. */
  readonly checks: WorkQueue;
  readonly fetch: PipelineFunction;
  /** How often the provider was found down. */
  readonly down: Metric;

  constructor(scope: Construct, id: string, props: FetchingProps) {
    super(scope, id);
    const { settings } = props;
    const visibilityTimeout = visibilityFor(settings.functions.fetch.timeoutSeconds, settings);
    // A waiting task is made invisible, and each wait counts as a receive.
    const waiting = { settings, visibilityTimeout, receives: maxReceiveCount };
    this.work = new WorkQueue(this, "Work", { ...waiting, fifo: true });
    this.checks = new WorkQueue(this, "Checks", waiting);
    this.fetch = this.#addFunction(props);
    this.down = new ProviderAlarm(this, "Alarms", this.fetch, settings).down;
    new FetchAlarms(this, "Backlog", this, settings);
    this.#addSource("Source", this.work, settings);
    this.#addSource("ChecksSource", this.checks, settings);
  }

  #addSource(id: string, { queue }: WorkQueue, { fetch: { maxConcurrency } }: Settings): void {
    new lambda.EventSourceMapping(this, id, {
      target: this.fetch.lambda,
      eventSourceArn: queue.queueArn,
      batchSize: 10,
      maxConcurrency,
      reportBatchItemFailures: true,
    });
  }

  #addFunction(props: FetchingProps) {
    const { settings, defaults, providerBaseUrl, token, erasureKey, overflow, table, refresh } = props;
    const queues = [this.work, this.checks];
    return new PipelineFunction(this, "Data", {
      ...defaults,
      entry: "functions/fetch/data.ts",
      description: "Calls the provider's API: starts, reads and asks, within its rate",
      size: settings.functions.fetch,
      loopEnds:
        "a start sends one check, a check the tasks of documents, and these send nothing; but where chains meet in a batch, " +
        "each goes on with the count of the longest",
      environment: {
        TABLE_NAME: table.table.tableName,
        FETCH_QUEUE_URL: this.work.queue.queueUrl,
        DEAD_LETTER_QUEUE_URL: this.work.deadLetterQueue.queueUrl,
        CHECK_QUEUE_URL: this.checks.queue.queueUrl,
        CHECK_DEAD_LETTER_QUEUE_URL: this.checks.deadLetterQueue.queueUrl,
        OVERFLOW_BUCKET: overflow.bucket.bucketName,
        TOKEN_SECRET_ARN: token.secret.secretArn,
        ERASURE_KEY_ARN: erasureKey.secretArn,
        PROVIDER_BASE_URL: providerBaseUrl,
        REFRESH_FUNCTION_NAME: refresh.lambda.functionName,
        METRICS_NAMESPACE: pipelineName(this),
      },
      settings: {
        provider: settings.provider,
        ...(settings.mapping.users.attributes && { attributes: settings.mapping.users.attributes }),
        retry: settings.fetch.retry,
        timeoutSeconds: settings.functions.fetch.timeoutSeconds,
        readAfterSeconds: settings.fetch.readAfterSeconds,
        retentionSeconds: this.work.retention.toSeconds(),
        longestOutageSeconds: settings.fetch.longestOutageHours * 3_600,
        startEndpoints: settings.startEndpoints,
        ...(settings.readiness && { readiness: readinessOf(settings.readiness) }),
        ...(keepsVersions(settings) && { documentVersionsDays: settings.retention.documentVersionsDays }),
      },
      permissions: [
        allow(
          [...consumeQueue, "sqs:ChangeMessageVisibility"],
          queues.map(({ queue }) => queue.queueArn),
        ),
        allow(
          ["sqs:SendMessage"],
          queues.flatMap(({ queue, deadLetterQueue }) => [queue.queueArn, deadLetterQueue.queueArn]),
        ),
        allow(
          ["dynamodb:BatchGetItem", "dynamodb:Query", "dynamodb:UpdateItem", ...writeStatements],
          [table.table.tableArn],
        ),
        allow(["s3:PutObject"], [overflow.data, overflow.pages]),
        allow(["s3:GetObject"], [overflow.pages]),
        allow(["secretsmanager:GetSecretValue"], [token.secret.secretArn, erasureKey.secretArn]),
        allow(["lambda:InvokeFunction"], [refresh.lambda.functionArn]),
      ],
    });
  }
}

/** Alerts the operator once when the provider is down, however long that lasts. */
class ProviderAlarm extends Construct {
  readonly down: Metric;

  constructor(scope: Construct, id: string, fetch: PipelineFunction, settings: Settings) {
    super(scope, id);
    const { longestOutageHours } = settings.fetch;
    this.down = metricOfLog(fetch, "PROVIDER_DOWN");
    new Alarm(this, "Down", {
      entry: "provider-down",
      metric: this.down,
      impact:
        "Each call to the provider fails: no new income data is fetched until it recovers. Tasks wait and then continue. " +
        `Nothing is lost within ${longestOutageHours} hours (fetch.longestOutageHours); after that, tasks may become dead letters.`,
      remedy: `See how it fails: ${logsSince("1h")}`,
      // During an outage the provider is probed at least this often. A single failed probe may be a glitch.
      period: Duration.seconds(3 * settings.provider.breaker.maxSeconds),
      threshold: 2,
      breaching: 1,
      outOf: 1,
    });
  }
}
