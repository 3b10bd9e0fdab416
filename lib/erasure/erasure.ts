import { Duration } from "aws-cdk-lib";
import type * as s3 from "aws-cdk-lib/aws-s3";
import * as secretsmanager from "aws-cdk-lib/aws-secretsmanager";
import { Construct } from "constructs";
import { acknowledge } from "../acknowledgements.ts";
import { Alarm } from "../observability/alarm.ts";
import { oldestAge } from "../observability/alarm-limits.ts";
import { deadLetters, oldestMessage } from "../observability/alarm-metrics.ts";
import { receivesWhileSaturated, visibilityFor, WorkQueue } from "../receiving/work-queue.ts";
import { inWords } from "../settings/durations.ts";
import type { Settings } from "../settings/settings.ts";
import { dataKeyOf } from "../storage/encryption.ts";
import { privateBucket } from "../storage/private-bucket.ts";

/** Resources of erasures: their queue, the key of their digests, and the log that outlives the table. */
export class Erasure extends Construct {
  readonly work: WorkQueue;
  readonly key: secretsmanager.Secret;
  /** Digests of who was erased. They never expire, because a backup can be of any age. */
  readonly log: s3.Bucket;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const visibilityTimeout = visibilityFor(settings.functions.erase.timeoutSeconds, settings);
    const receives = receivesWhileSaturated(visibilityTimeout, settings);
    this.work = new WorkQueue(this, "Work", { settings, visibilityTimeout, receives });
    const encryptionKey = dataKeyOf(this, settings);
    // Trap: never rotate this key. With another key, no tombstone and no entry of the log can be found.
    this.key = new secretsmanager.Secret(this, "Key", {
      description:
        "Key of the digests that identify who was erased. Without it a restore can't erase them again.",
      generateSecretString: {
        secretStringTemplate: "{}",
        generateStringKey: "key",
        passwordLength: 64,
        excludePunctuation: true,
      },
      ...(encryptionKey && { encryptionKey }),
    });
    acknowledge(this.key, {
      finding: "AwsSolutions::AwsSolutions-SMG4",
      reason:
        "It is never renewed: with another key nobody who was erased would be found again after a restore of the table.",
    });
    new ErasureAlarms(this, "Alarms", this.work);
    this.log = privateBucket(this, "Log", [], {
      key: encryptionKey,
      versioned: settings.production || settings.recovery !== undefined,
    });
  }
}

/** The second pass of an erasure is delayed as long as SQS allows. */
const longestDelay = Duration.minutes(15);

/** Alerts the operator when an erasure is late or failed. */
class ErasureAlarms extends Construct {
  constructor(scope: Construct, id: string, work: WorkQueue) {
    super(scope, id);
    const limit = oldestAge(work.visibilityTimeout, work.retention, longestDelay);
    const period = Duration.minutes(5);
    new Alarm(this, "Late", {
      entry: "erasure-late",
      metric: oldestMessage(work),
      impact: `An erasure has waited for ${inWords(limit)}: data of a person to erase is still stored.`,
      remedy: "Find the cause: npx income-events doctor",
      period,
      threshold: limit.toSeconds(),
      breaching: 1,
      outOf: 1,
    });
    new Alarm(this, "DeadLetters", {
      entry: "erasure-dead-letters",
      metric: deadLetters(work),
      impact:
        "An erasure failed permanently: data of a person to erase is still stored, and nothing retries it.",
      remedy: "Show it with its reason: npx income-events dlq show erase",
      period,
      breaching: 1,
      outOf: 1,
    });
  }
}
