import { Duration } from "aws-cdk-lib";
import * as s3 from "aws-cdk-lib/aws-s3";
import type { Construct } from "constructs";

/** A bucket that is encrypted, never public, spoken to over TLS only, and expires objects as told. */
export function privateBucket(scope: Construct, id: string, lifecycleRules: s3.LifecycleRule[]): s3.Bucket {
  return new s3.Bucket(scope, id, {
    encryption: s3.BucketEncryption.S3_MANAGED,
    blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
    objectOwnership: s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
    enforceSSL: true,
    lifecycleRules: [...lifecycleRules, { abortIncompleteMultipartUploadAfter: Duration.days(1) }],
  });
}
