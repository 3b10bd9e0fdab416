// Written by `npm run docs` from the schema of the settings and docs/reference/settings.md.
import type { Duration, Size } from "aws-cdk-lib";

/** The settings `webhooks.*`. */
export interface WebhooksProps {
  /**
   * The header of a webhook that carries its kind's value of the secret.
   * @default "x-webhook-secret"
   */
  readonly secretHeader?: string;
  /**
   * `Bearer` or `Basic` where the header is `authorization`: what stands before the value. With `Basic` the value is the password, and any user's name is accepted.
   * @default - none
   */
  readonly secretScheme?: "Bearer" | "Basic";
  /**
   * How long a receiver keeps the secret that it read; a rotation registers the new one after twice that. While Secrets Manager is unavailable, the last known secret serves for another 15 minutes. From 1 to 900.
   * @default 60
   */
  readonly secretCacheSeconds?: number | Duration;
  /**
   * So long the provider tries a delivery again; a rotation accepts the old secret for that and two registrations. From 1 to 720.
   * @default 72
   */
  readonly retryHours?: number | Duration;
  /**
   * Addresses and networks that webhooks may come from; others are answered 403.
   * @default - everywhere
   */
  readonly sourceAddresses?: readonly string[];
  /** The settings `webhooks.throttle.*`. */
  readonly throttle?: WebhooksThrottleProps;
  /**
   * A larger body is answered 413 before anything is read for it, and so is one that inflates to more. API Gateway itself answers so over 10 MB, and where the request with its headers, in base64 unless it is text, is over the 6 MB that Lambda takes. From 1024 to 6291456.
   * @default 6291456
   */
  readonly maxBodyBytes?: number | Size;
  /**
   * True: `GET` and `HEAD` are answered 200, without effect, where a service tries an address before it sends to it; else 405.
   * @default false
   */
  readonly answerProbes?: boolean;
  /**
   * Fields of bodies that are live credentials: dropped from every body before anything is stored, at any depth, in any case.
   * @default ["link","session"]
   */
  readonly credentialFields?: readonly string[];
  /** The settings `webhooks.customDomain.*`. */
  readonly customDomain?: WebhooksCustomDomainProps;
}

/** The settings `webhooks.throttle.*`. */
export interface WebhooksThrottleProps {
  /**
   * What API Gateway lets through on each route; the rest is answered 429 and sent again by the provider. It bounds what a flood costs. From 1 to 10000.
   * @default 50
   */
  readonly requestsPerSecond?: number;
  /**
   * So many at once. From 1 to 5000.
   * @default 100
   */
  readonly burst?: number;
}

/** The settings `webhooks.customDomain.*`. */
export interface WebhooksCustomDomainProps {
  /** A name of your own in the webhooks' address. */
  readonly name: string;
  /**
   * The certificate of ACM for it, in the stage's region.
   * @default - none
   */
  readonly certificateArn?: string;
  /** The settings `webhooks.customDomain.mutualTls.*`. */
  readonly mutualTls?: WebhooksCustomDomainMutualTlsProps;
  /**
   * True where the name leads to a distribution with a web ACL.
   * @default false
   */
  readonly behindCloudFront?: boolean;
}

/** The settings `webhooks.customDomain.mutualTls.*`. */
export interface WebhooksCustomDomainMutualTlsProps {
  /** An object of S3 with the certificates of the authorities that the provider's client certificate comes from, such as `s3://bucket/truststore.pem`: API Gateway refuses every other client. The deploying role needs `s3:GetObject` on it. */
  readonly truststoreUri: string;
  /**
   * The version of that object.
   * @default - the newest
   */
  readonly truststoreVersion?: string;
}
