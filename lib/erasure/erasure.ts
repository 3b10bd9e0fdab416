import type * as s3 from "aws-cdk-lib/aws-s3";
import * as secretsmanager from "aws-cdk-lib/aws-secretsmanager";
import { Construct } from "constructs";
import { receivesWhileSaturated, visibilityFor, WorkQueue } from "../receiving/work-queue.ts";
import type { Settings } from "../settings/settings.ts";
import { dataKeyOf } from "../storage/encryption.ts";
import { privateBucket } from "../storage/private-bucket.ts";
import { ErasureAlarms } from "./erasure-alarms.ts";

/** What erasures need: a queue of their own, the key of their digests, and the log that outlives the table. */
export class Erasure extends Construct {
  readonly work: WorkQueue;
  readonly key: secretsmanager.Secret;
  /** Who was erased, by digest. It is kept without end: a backup can be of any age. */
  readonly log: s3.Bucket;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const visibilityTimeout = visibilityFor(settings.functions.erase.timeoutSeconds, settings);
    const receives = receivesWhileSaturated(visibilityTimeout, settings);
    this.work = new WorkQueue(this, "Work", { settings, visibilityTimeout, receives });
    const encryptionKey = dataKeyOf(this, settings);
    // A trap: with another key no tombstone and no entry of the log is found again. It is never rotated.
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
    new ErasureAlarms(this, "Alarms", this.work);
    this.log = privateBucket(this, "Log", [], { key: encryptionKey, versioned: settings.production });
  }
}
