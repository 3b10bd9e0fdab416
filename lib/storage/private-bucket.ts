import { Duration } from "aws-cdk-lib";
import type * as kms from "aws-cdk-lib/aws-kms";
import * as s3 from "aws-cdk-lib/aws-s3";
import type { Construct } from "constructs";
import { acknowledge } from "../acknowledgements.ts";
import type { Settings } from "../settings/settings.ts";

/** Options of a bucket whose objects are backed up: AWS Backup requires versions, and erased data should not stay in them. */
export function backedUp({ recovery }: Settings): BucketVersions {
  return recovery === undefined ? {} : { versioned: true, noncurrentDays: 1 };
}

type BucketVersions = {
  /** Keeps overwritten and deleted objects. */
  readonly versioned?: boolean;
  /** Days to keep them; absent: without limit. */
  readonly noncurrentDays?: number;
};

/**
 * An encrypted bucket that is never public, requires TLS and expires objects as configured.
 * @param key customer-managed key for new objects; undefined: SSE-S3
 */
export function privateBucket(
  scope: Construct,
  id: string,
  lifecycleRules: s3.LifecycleRule[],
  { key, versioned = false, noncurrentDays }: BucketVersions & { readonly key: kms.IKey | undefined },
): s3.Bucket {
  const bucket = new s3.Bucket(scope, id, {
    ...(key === undefined
      ? { encryption: s3.BucketEncryption.S3_MANAGED }
      : // The bucket key saves a call of KMS for each object.
        { encryption: s3.BucketEncryption.KMS, encryptionKey: key, bucketKeyEnabled: true }),
    blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
    objectOwnership: s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
    enforceSSL: true,
    ...(versioned && { versioned }),
    lifecycleRules: [
      ...lifecycleRules,
      { abortIncompleteMultipartUploadAfter: Duration.days(1) },
      ...(noncurrentDays === undefined
        ? []
        : [
            {
              noncurrentVersionExpiration: Duration.days(noncurrentDays),
              expiredObjectDeleteMarker: true,
            },
          ]),
    ],
  });
  acknowledge(bucket, {
    finding: "AwsSolutions::AwsSolutions-S1",
    reason:
      "No access log is written: it would keep names of people's objects where no erasure looks. Where each access must be known, data events of CloudTrail are turned on for the bucket, in the account.",
  });
  return bucket;
}
