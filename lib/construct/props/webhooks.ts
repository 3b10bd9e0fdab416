// Written by `npm run docs` from the schema of the settings and docs/reference/settings.md.
import type { Duration, Size } from "aws-cdk-lib";

/** The settings `webhooks.*`. */
export interface WebhooksProps {
  /**
   * Webhook header with the secret value of the webhook's kind.
   * @default "x-webhook-secret"
   */
  readonly secretHeader?: string;
  /**
   * Scheme before the value if the header is `authorization`: `Bearer` or `Basic`. With `Basic` the value is the password, and any user name is accepted.
   * @default - none
   */
  readonly secretScheme?: "Bearer" | "Basic";
  /**
   * Seconds for which a receiver caches the secret. A rotation registers the new secret after twice this time. While Secrets Manager is unavailable, receivers use the last known secret for another 15 minutes. From 1 to 900.
   * @default 60
   */
  readonly secretCacheSeconds?: number | Duration;
  /**
   * Hours for which the provider retries a delivery. After a rotation the old secret is accepted for this time plus two registration intervals. From 1 to 720.
   * @default 72
   */
  readonly retryHours?: number | Duration;
  /**
   * Addresses and networks that may send webhooks. Others are answered 403.
   * @default - everywhere
   */
  readonly sourceAddresses?: readonly string[];
  /** The settings `webhooks.throttle.*`. */
  readonly throttle?: WebhooksThrottleProps;
  /**
   * Maximum size of a webhook body, also after decompression. A larger one is answered 413. API Gateway itself answers 413 to a body above 10 MB, and to a request that exceeds Lambda's 6 MB with its headers, in base64 unless it is text. From 1024 to 6291456.
   * @default 6291456
   */
  readonly maxBodyBytes?: number | Size;
  /**
   * `true` answers `GET` and `HEAD` with 200 and no effect, for services that test an address before they use it; `false` answers 405.
   * @default false
   */
  readonly answerProbes?: boolean;
  /**
   * Fields of webhook bodies that hold live credentials. They are removed from every body before it is stored, at any depth, in upper or lower case.
   * @default ["link","session"]
   */
  readonly credentialFields?: readonly string[];
  /** The settings `webhooks.customDomain.*`. */
  readonly customDomain?: WebhooksCustomDomainProps;
}

/** The settings `webhooks.throttle.*`. */
export interface WebhooksThrottleProps {
  /**
   * Rate limit of each route in API Gateway. Requests above it are answered 429, and the provider retries them. The limit bounds what a flood costs. From 1 to 10000.
   * @default 50
   */
  readonly requestsPerSecond?: number;
  /**
   * Burst limit of each route, in requests. From 1 to 5000.
   * @default 100
   */
  readonly burst?: number;
}

/** The settings `webhooks.customDomain.*`. */
export interface WebhooksCustomDomainProps {
  /** Custom domain name of the webhook address. */
  readonly name: string;
  /**
   * ARN of the ACM certificate for the domain name, in the stage's region.
   * @default - none
   */
  readonly certificateArn?: string;
  /** The settings `webhooks.customDomain.mutualTls.*`. */
  readonly mutualTls?: WebhooksCustomDomainMutualTlsProps;
  /**
   * `true` if the domain name leads to a distribution with a web ACL.
   * @default false
   */
  readonly behindCloudFront?: boolean;
}

/** The settings `webhooks.customDomain.mutualTls.*`. */
export interface WebhooksCustomDomainMutualTlsProps {
  /** S3 object with the certificate authorities of the provider's client certificate, such as `s3://bucket/truststore.pem`. API Gateway refuses every other client. The deploying role needs `s3:GetObject` on it. */
  readonly truststoreUri: string;
  /**
   * Version of the truststore object.
   * @default - the newest
   */
  readonly truststoreVersion?: string;
}
