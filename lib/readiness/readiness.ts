import { Duration } from "aws-cdk-lib";
import * as lambda from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import { allow, consumeQueue } from "../function/permissions.ts";
import { type FunctionDefaults, PipelineFunction } from "../function/pipeline-function.ts";
import { Alarm } from "../observability/alarm.ts";
import { deadLetters } from "../observability/alarm-metrics.ts";
import { visibilityFor, WorkQueue } from "../receiving/work-queue.ts";
import type { Settings } from "../settings/settings.ts";
import type { EventTable } from "../storage/event-table.ts";

export type ReadinessProps = {
  readonly settings: Settings;
  readonly deadlineHours: number;
  readonly defaults: FunctionDefaults;
  readonly table: EventTable;
};

/** SQS's limit of in-flight messages in a standard queue. Further messages wait, and their deadlines are late. */
const mostInFlight = 120_000;
const warnedInFlight = 90_000;
/** Each wait counts as a receive. SQS's maximum is more than 240 hours need. */
const mostReceives = 1_000;

/** Deadlines of accounts that subscribers wait for. Their messages are invisible until they are due. */
export class Readiness extends Construct {
  readonly work: WorkQueue;

  constructor(scope: Construct, id: string, props: ReadinessProps) {
    super(scope, id);
    const { settings } = props;
    const visibilityTimeout = visibilityFor(settings.functions.relay.timeoutSeconds, settings);
    this.work = new WorkQueue(this, "Work", { settings, visibilityTimeout, receives: mostReceives });
    const target = this.#addFunction(props).lambda;
    new lambda.EventSourceMapping(this, "Source", {
      target,
      eventSourceArn: this.work.queue.queueArn,
      batchSize: 10,
      maxConcurrency: 2,
      reportBatchItemFailures: true,
    });
    this.#addAlarms(props);
  }

  #addFunction({ settings, defaults, table }: ReadinessProps): PipelineFunction {
    const { queue, deadLetterQueue } = this.work;
    return new PipelineFunction(this, "Deadlines", {
      ...defaults,
      entry: "functions/readiness/deadlines.ts",
      description: "Announces accounts that are incomplete at their deadline",
      size: settings.functions.relay,
      environment: {
        TABLE_NAME: table.table.tableName,
        DEADLINE_QUEUE_URL: queue.queueUrl,
        DEAD_LETTER_QUEUE_URL: deadLetterQueue.queueUrl,
      },
      settings: {},
      permissions: [
        allow([...consumeQueue, "sqs:ChangeMessageVisibility"], [queue.queueArn]),
        allow(["sqs:SendMessage"], [deadLetterQueue.queueArn]),
        allow(["dynamodb:BatchGetItem", "dynamodb:PartiQLUpdate"], [table.table.tableArn]),
      ],
    });
  }

  #addAlarms({ settings, deadlineHours }: ReadinessProps): void {
    const period = Duration.minutes(5);
    new Alarm(this, "Many", {
      entry: "deadlines-behind",
      metric: this.work.queue.metricApproximateNumberOfMessagesNotVisible({ statistic: "Maximum" }),
      impact:
        `Over ${warnedInFlight} accounts wait for their data. At ${mostInFlight}, which is ` +
        `${Math.floor(mostInFlight / (deadlineHours * settings.divideDurationsBy))} an hour that are not ready within ` +
        "their deadline, further deadlines are late: account.incomplete is late, account.ready is not.",
      remedy: "Find out why data is missing: npx income-events status",
      period,
      // With divided durations, proportionally fewer accounts wait.
      threshold: Math.ceil(warnedInFlight / settings.divideDurationsBy),
      breaching: 1,
      outOf: 1,
    });
    new Alarm(this, "DeadLetters", {
      entry: "deadline-dead-letters",
      metric: deadLetters(this.work),
      impact: "Deadlines failed permanently: incomplete accounts are not announced.",
      remedy: "Show them with their reasons: npx income-events dlq show deadlines",
      period,
      breaching: 1,
      outOf: 1,
    });
  }
}
