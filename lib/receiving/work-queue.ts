import { Duration } from "aws-cdk-lib";
import * as sqs from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { divided } from "../settings/durations.ts";
import type { Settings } from "../settings/settings.ts";
import { maxReceiveCount } from "../settings/subscribers-schema.ts";
import { dataKeyOf } from "../storage/encryption.ts";

/** SQS's maximum retention, used by all queues that hold something received and not processed yet. */
const longestRetention = Duration.days(14);

/** Maximum time for which other functions may use up the account's concurrency. */
const longestSaturation = Duration.hours(12);
/** SQS's maximum of receives. Source: SQS developer guide, "Using dead-letter queues in Amazon SQS". */
const mostReceives = 1_000;

/**
 * Number of receives after which SQS moves a message to the DLQ. Lambda receives a batch before it is throttled,
 * retries while the batch is invisible, and lets it become visible again: each time counts as a receive, although the
 * function did not run. Source: Lambda developer guide, "Creating and configuring an Amazon SQS event source mapping".
 */
export function receivesWhileSaturated(visibilityTimeout: Duration, settings: Settings): number {
  const receives = divided(longestSaturation, settings).toSeconds() / visibilityTimeout.toSeconds();
  return Math.min(mostReceives, Math.max(maxReceiveCount, Math.ceil(receives)));
}

/** How long a dead-letter queue keeps a message, counted from when the message was first sent. */
export function deadLetterRetention(settings: Settings): Duration {
  return divided(longestRetention, settings);
}

export type WorkQueueProps = {
  readonly settings: Settings;
  readonly visibilityTimeout: Duration;
  readonly retention?: Duration;
  /** Number of receives after which SQS moves a message to the dead-letter queue. */
  readonly receives?: number;
  /** Whether the messages of one group are delivered in order, one batch at a time. */
  readonly fifo?: boolean;
};

/** A queue and its dead-letter queue, both encrypted and accessible over TLS only. */
export class WorkQueue extends Construct {
  readonly queue: sqs.Queue;
  readonly deadLetterQueue: sqs.Queue;
  readonly visibilityTimeout: Duration;
  readonly retention: Duration;

  constructor(scope: Construct, id: string, props: WorkQueueProps) {
    super(scope, id);
    const { settings, visibilityTimeout, retention, receives = maxReceiveCount, fifo = false } = props;
    const longest = deadLetterRetention(settings);
    this.visibilityTimeout = visibilityTimeout;
    this.retention = retention ?? longest;
    const common = { ...encryptionOf(this, settings), ...(fifo && highThroughput), enforceSSL: true };
    this.deadLetterQueue = new sqs.Queue(this, "DeadLetters", {
      ...common,
      retentionPeriod: longest,
    });
    this.queue = new sqs.Queue(this, "Queue", {
      ...common,
      visibilityTimeout,
      retentionPeriod: this.retention,
      deadLetterQueue: { queue: this.deadLetterQueue, maxReceiveCount: receives },
    });
  }
}

/** Limits and deduplication for each message group: 300 requests a second per group, not for the whole queue. */
const highThroughput: sqs.QueueProps = {
  fifo: true,
  deduplicationScope: sqs.DeduplicationScope.MESSAGE_GROUP,
  fifoThroughputLimit: sqs.FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
};

export function encryptionOf(scope: Construct, settings: Settings): sqs.QueueProps {
  const encryptionMasterKey = dataKeyOf(scope, settings);
  if (encryptionMasterKey !== undefined) {
    return { encryption: sqs.QueueEncryption.KMS, encryptionMasterKey };
  }
  const { SQS_MANAGED, KMS_MANAGED } = sqs.QueueEncryption;
  return { encryption: settings.encryption.queueKey === undefined ? SQS_MANAGED : KMS_MANAGED };
}

/**
 * Visibility timeout of a function's queue: in production six times the function's timeout, so that throttled retries
 * of the batch fit (AWS Lambda developer guide, "Using Lambda with Amazon SQS").
 */
export function visibilityFor(functionTimeoutInSeconds: number, { queues }: Settings): Duration {
  return Duration.seconds(queues.visibilityMultiple * functionTimeoutInSeconds);
}
