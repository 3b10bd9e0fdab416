import { z } from "zod";
import { listOf, remedyOf, section, text } from "./setting-types.ts";

/** An ARN of a key, never of an alias. */
const keyArn = text(
  /^arn:[a-z-]+:kms:[a-z0-9-]+:\d{12}:key\/(mrk-[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/,
  "write the ARN of a symmetric key of KMS in the stage's region; an alias is none",
);

/** What encrypts data at rest, where the keys that AWS owns and SSE-SQS are not what is wanted. */
export const encryptionSchema = section({
  /** A key of the customer's, for the table, queues, buckets, secrets and logs. */
  keyArn: keyArn.exactOptional(),
  /** Former values of `keyArn`: what they encrypted stays readable. */
  previousKeyArns: listOf(keyArn).default([]),
  /** For the queues alone: AWS's own key in this account. */
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
