import { z } from "zod";
import { listOf, remedyOf, section, text } from "./setting-types.ts";

/** ARN of a key, not of an alias. */
const keyArn = text(
  /^arn:[a-z-]+:kms:[a-z0-9-]+:\d{12}:key\/(mrk-[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/,
  "write the ARN of a symmetric key of KMS in the stage's region; an alias is none",
);

/** Keys for data at rest, instead of AWS's own keys and SSE-SQS. */
export const encryptionSchema = section({
  /** Customer-managed key for the table, queues, buckets, secrets and logs. */
  keyArn: keyArn.exactOptional(),
  /** Former values of `keyArn`; data under these keys stays readable. */
  previousKeyArns: listOf(keyArn).default([]),
  /** Encrypts only the queues, with AWS's key for SQS in this account. */
  queueKey: z
    .literal("alias/aws/sqs", {
      error: remedyOf('write "alias/aws/sqs", or set encryption.keyArn to a key of yours'),
    })
    .exactOptional(),
})
  .refine(({ keyArn, queueKey }) => keyArn === undefined || queueKey === undefined, {
    path: ["queueKey"],
    error: "is another key for the queues than encryption.keyArn; leave one of them out",
  })
  .refine(({ keyArn, previousKeyArns }) => keyArn === undefined || !previousKeyArns.includes(keyArn), {
    path: ["previousKeyArns"],
    error: "names encryption.keyArn, which is the key in use; leave it out of the list",
  })
  .prefault({});
