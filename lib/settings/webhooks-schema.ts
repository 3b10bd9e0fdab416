import { z } from "zod";
import { secretSchemes } from "../../domain/core/webhook-secret.ts";
import { defaultCredentialFields } from "../../domain/event/payload.ts";
import {
  choice,
  flag,
  listOf,
  remedyOf,
  scalableDuration,
  section,
  text,
  wholeNumber,
} from "./setting-types.ts";

/** A synchronous invocation takes 6 MB. Source: Lambda developer guide, "Lambda quotas". */
const largestEvent = 6 * 1024 * 1024;

const network = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], {
  error: remedyOf('write an address or a network, such as "203.0.113.0/24"'),
});

/** How webhooks come in, and what is taken. */
export const webhooksSchema = section({
  secretHeader: text(/^[a-z0-9!#$%&'*+.^_`|~-]+$/, "write an HTTP header's name in lower case").default(
    "x-webhook-secret",
  ),
  /** What stands before the value, as in `Authorization`; absent: nothing. */
  secretScheme: choice(secretSchemes).exactOptional(),
  /** How long a receiver keeps the secret that it read. A rotation waits twice as long before it registers. */
  secretCacheSeconds: scalableDuration(1, 900).default(60),
  /** How long the provider tries a delivery again: the old secret of a rotation is accepted for that time. */
  retryHours: scalableDuration(1, 720).default(72),
  /** Where webhooks may come from; absent: from everywhere. */
  sourceAddresses: listOf(network)
    .min(1, { error: remedyOf("name one, or leave the setting out") })
    .exactOptional(),
  /** What API Gateway lets through on each route; beyond it answers 429, and the provider tries again. */
  throttle: section({
    requestsPerSecond: wholeNumber(1, 10_000).default(50),
    burst: wholeNumber(1, 5_000).default(100),
  }).prefault({}),
  /** A larger body is answered 413. What is left out lets through what Lambda takes. */
  maxBodyBytes: wholeNumber(1_024, largestEvent, ", what Lambda takes").default(largestEvent),
  /** Whether GET and HEAD are answered 200, without effect: some services try an address before they send to it. */
  answerProbes: flag().default(false),
  /** Fields of bodies that are live credentials: dropped before anything is stored, at any depth, in any case. */
  credentialFields: listOf(text(/^[\w.@$ -]{1,100}$/, "write a field's name")).default(
    defaultCredentialFields,
  ),
  /** A name of your own for the webhooks' address. */
  customDomain: section({
    name: text(
      /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/,
      'write a name such as "hooks.example.com"',
    ),
    certificateArn: text(
      /^arn:[a-z-]+:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/,
      "write the ARN of a certificate of ACM for the name, in the stage's region",
    ),
    /** Only who has a certificate that the truststore knows gets as far as a receiver. */
    mutualTls: section({
      truststoreUri: text(
        /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]\/\S+$/,
        'write where the certificates of its authorities lie, such as "s3://bucket/truststore.pem"',
      ),
      truststoreVersion: text(/^\S{1,1024}$/, "write the id of a version of that object").exactOptional(),
    }).exactOptional(),
    /** Whether the name leads to a distribution of CloudFront, which has a web ACL. */
    behindCloudFront: flag().default(false),
  }).exactOptional(),
}).prefault({});
