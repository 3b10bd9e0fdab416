import { Duration } from "aws-cdk-lib";
import * as events from "aws-cdk-lib/aws-events";
import * as targets from "aws-cdk-lib/aws-events-targets";
import type * as lambda from "aws-cdk-lib/aws-lambda";
import type * as s3 from "aws-cdk-lib/aws-s3";
import { Construct } from "constructs";
import { allow } from "../function/permissions.ts";
import { type FunctionDefaults, PipelineFunction } from "../function/pipeline-function.ts";
import { Alarm } from "../observability/alarm.ts";
import { logsSince } from "../observability/alarm-metrics.ts";
import { deadLetterRetention, type WorkQueue } from "../receiving/work-queue.ts";
import { deadLetterQueueNames } from "../receiving/work-queues.ts";
import { every, inWords, wholeDays } from "../settings/durations.ts";
import type { Settings } from "../settings/settings.ts";
import { backedUp, privateBucket } from "./private-bucket.ts";

export type DeadLetterArchiveProps = {
  readonly settings: Settings;
  readonly defaults: FunctionDefaults;
  /** Every queue with a dead-letter queue, by its name in commands. */
  readonly works: ReadonlyMap<string, WorkQueue>;
};

/** Archives dead letters before their queue drops them, so that no authenticated event is lost unnoticed. */
export class DeadLetterArchive extends Construct {
  readonly bucket: s3.Bucket;
  readonly lambda: lambda.Function;

  constructor(scope: Construct, id: string, { settings, defaults, works }: DeadLetterArchiveProps) {
    super(scope, id);
    const rules = [{ expiration: wholeDays(settings.retention.archiveDays) }];
    this.bucket = privateBucket(this, "Bucket", rules, { key: defaults.dataKey, ...backedUp(settings) });
    const queues = [...works.values()].map(({ deadLetterQueue }) => deadLetterQueue);
    const [first] = queues;
    if (first === undefined) throw new Error("There is no queue with dead letters");
    const archive = new PipelineFunction(this, "Letters", {
      ...defaults,
      entry: "functions/archive/dead-letters.ts",
      description: "Archives dead letters that near their end",
      size: settings.functions.archive,
      environment: {
        DEAD_LETTER_QUEUE_URL: first.queueUrl,
        DEAD_LETTER_QUEUES: deadLetterQueueNames(works),
        ARCHIVE_BUCKET: this.bucket.bucketName,
      },
      settings: {
        queues: [...works.keys()],
        retentionSeconds: deadLetterRetention(settings).toSeconds(),
        beforeEndSeconds: settings.archive.beforeEndHours * 3_600,
        timeoutSeconds: settings.functions.archive.timeoutSeconds,
      },
      permissions: [
        allow(
          ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility"],
          queues.map(({ queueArn }) => queueArn),
        ),
        allow(["s3:PutObject"], [this.bucket.arnForObjects("dead-letters/*")]),
      ],
      // The next run retries, long before the dead letters expire.
      retryAttempts: 0,
    });
    this.lambda = archive.lambda;
    new Alarm(this, "Failing", {
      entry: "archiving-failing",
      metric: this.lambda.metricErrors({ statistic: "Sum" }),
      impact:
        "Dead letters close to expiry could not be archived in two of the last three runs. They are lost if this lasts " +
        `${inWords(Duration.hours(settings.archive.beforeEndHours))}.`,
      remedy: `See why: ${logsSince("1d")}`,
      period: Duration.minutes(settings.archive.everyMinutes),
      breaching: 2,
      outOf: 3,
    });
    new events.Rule(this, "Schedule", {
      description: "Looks for dead letters that near their end",
      schedule: every(Duration.minutes(settings.archive.everyMinutes)),
      targets: [new targets.LambdaFunction(this.lambda)],
    });
  }
}
