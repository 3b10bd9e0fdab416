import { Duration } from "aws-cdk-lib";
import * as sqs from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { divided } from "../settings/durations.ts";
import type { Settings } from "../settings/settings.ts";
import { maxReceiveCount } from "../settings/subscribers-schema.ts";
import { dataKeyOf } from "../storage/encryption.ts";

/** SQS keeps messages for 14 days at most; so do all queues that hold something received and not yet done. */
const longestRetention = Duration.days(14);

/** So long the account's other functions may leave none of its concurrency. */
const longestSaturation = Duration.hours(12);
/** Source: SQS developer guide, "Using dead-letter queues in Amazon SQS". */
const mostReceives = 1_000;

/**
 * How often SQS delivers a message to a function before it moves it to the DLQ. Lambda receives a batch before it is
 * throttled, tries again while the batch is hidden, and lets it come back: each time counts, though nobody has tried.
 * Source: Lambda developer guide, "Creating and configuring an Amazon SQS event source mapping".
 */
export function receivesWhileSaturated(visibilityTimeout: Duration, settings: Settings): number {
  const receives = divided(longestSaturation, settings).toSeconds() / visibilityTimeout.toSeconds();
  return Math.min(mostReceives, Math.max(maxReceiveCount, Math.ceil(receives)));
}

/** How long a dead-letter queue keeps a message, counted from when it was sent first. */
export function deadLetterRetention(settings: Settings): Duration {
  return divided(longestRetention, settings);
}

export type WorkQueueProps = {
  readonly settings: Settings;
  readonly visibilityTimeout: Duration;
  readonly retention?: Duration;
  /** How often SQS delivers a message before it moves it to the dead-letter queue itself. */
  readonly receives?: number;
  /** Whether messages of one group are handed out one batch after the other. */
  readonly fifo?: boolean;
};

/** A queue and its dead-letter queue: encrypted, spoken to over TLS only. */
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

/** Limits and deduplication of a FIFO queue by group: 300 requests a second each, not for the whole queue. */
const highThroughput: sqs.QueueProps = {
  fifo: true,
  deduplicationScope: sqs.DeduplicationScope.MESSAGE_GROUP,
  fifoThroughputLimit: sqs.FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
};

function encryptionOf(scope: Construct, settings: Settings): sqs.QueueProps {
  const encryptionMasterKey = dataKeyOf(scope, settings);
  if (encryptionMasterKey !== undefined) {
    return { encryption: sqs.QueueEncryption.KMS, encryptionMasterKey };
  }
  const { SQS_MANAGED, KMS_MANAGED } = sqs.QueueEncryption;
  return { encryption: settings.encryption.queueKey === undefined ? SQS_MANAGED : KMS_MANAGED };
}

/**
 * How long a message stays hidden from others while a function works on it: in production six times the function's
 * timeout, so that throttled retries of the batch fit (AWS Lambda developer guide, "Using Lambda with Amazon SQS").
 */
export function visibilityFor(functionTimeoutInSeconds: number, { queues }: Settings): Duration {
  return Duration.seconds(queues.visibilityMultiple * functionTimeoutInSeconds);
}
