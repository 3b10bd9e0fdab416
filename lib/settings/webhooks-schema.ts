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

/** Limit of a synchronous invocation, 6 MB. Source: Lambda developer guide, "Lambda quotas". */
const largestEvent = 6 * 1024 * 1024;

const network = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], {
  error: remedyOf('write an address or a network, such as "203.0.113.0/24"'),
});

/** How webhooks arrive, and which are accepted. */
export const webhooksSchema = section({
  secretHeader: text(/^[a-z0-9!#$%&'*+.^_`|~-]+$/, "write an HTTP header's name in lower case").default(
    "x-webhook-secret",
  ),
  /** Scheme before the value, as in `Authorization`; absent: none. */
  secretScheme: choice(secretSchemes).exactOptional(),
  /** How long a receiver caches the secret. A rotation waits twice as long before it registers the new one. */
  secretCacheSeconds: scalableDuration(1, 900).default(60),
  /** How long the provider retries a delivery. After a rotation, the old secret is accepted for at least this time. */
  retryHours: scalableDuration(1, 720).default(72),
  /** Where webhooks may come from; absent: everywhere. */
  sourceAddresses: listOf(network)
    .min(1, { error: remedyOf("name one, or leave the setting out") })
    .exactOptional(),
  /** Limit of each route in API Gateway. Requests above it are answered 429, and the provider retries them. */
  throttle: section({
    requestsPerSecond: wholeNumber(1, 10_000).default(50),
    burst: wholeNumber(1, 5_000).default(100),
  }).prefault({}),
  /** A larger body is answered 413. The default is what Lambda accepts. */
  maxBodyBytes: wholeNumber(1_024, largestEvent, ", what Lambda takes").default(largestEvent),
  /** Whether GET and HEAD are answered 200, without effect, for services that test an address before they use it. */
  answerProbes: flag().default(false),
  /** Fields of bodies that hold live credentials: removed before anything is stored, at any depth, in any case. */
  credentialFields: listOf(text(/^[\w.@$ -]{1,100}$/, "write a field's name")).default(
    defaultCredentialFields,
  ),
  /** Custom domain name of the webhook address. */
  customDomain: section({
    name: text(
      /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/,
      'write a name such as "hooks.example.com"',
    ),
    certificateArn: text(
      /^arn:[a-z-]+:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/,
      "write the ARN of a certificate of ACM for the name, in the stage's region",
    ),
    /** Requires a client certificate from an authority in the truststore. */
    mutualTls: section({
      truststoreUri: text(
        /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]\/\S+$/,
        'write the S3 address of the truststore, such as "s3://bucket/truststore.pem"',
      ),
      truststoreVersion: text(/^\S{1,1024}$/, "write the id of a version of that object").exactOptional(),
    }).exactOptional(),
    /** Whether the name leads to a CloudFront distribution with a web ACL. */
    behindCloudFront: flag().default(false),
  }).exactOptional(),
}).prefault({});
