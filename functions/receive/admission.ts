import type middy from "@middy/core";
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import type { OverflowBucket } from "../../adapters/s3/overflow-bucket.ts";
import type { Send } from "../../adapters/sqs/sqs-sender.ts";
import type { IsAllowedSource } from "../../domain/core/source-addresses.ts";
import {
  authenticator,
  type IsAuthentic,
  isSigned,
  presentedIn,
  type SecretHeader,
  type WebhookSecret,
} from "../../domain/core/webhook-secret.ts";
import type { WebhookKind } from "../../domain/event/events.ts";
import type { CredentialFields } from "../../domain/event/payload.ts";
import type { Log } from "../runtime/log.ts";

export type Event = APIGatewayProxyEventV2;
export type Result = APIGatewayProxyStructuredResultV2;

export type ReceiverDependencies = {
  readonly send: Send;
  readonly overflow: OverflowBucket;
  readonly queueUrl: string;
  readonly deadLetterQueueUrl: string;
  /** Requests a reconciliation to recover lost webhooks; absent if the kind can't be reconciled. */
  readonly requestReconciliation?: () => Promise<void>;
  /** Fields to remove from every body. */
  readonly credentials: CredentialFields;
  readonly secretHeader: SecretHeader;
  readonly isAllowedSource: IsAllowedSource;
  readonly maxBodyBytes: number;
  /** Whether to answer GET and HEAD with 200. */
  readonly answersProbes: boolean;
  /** Lower-case names of the headers that the mapping reads; no others are kept. */
  readonly mappedHeaders: readonly string[];
  readonly readSecret: () => Promise<WebhookSecret | undefined>;
  readonly now: () => Date;
  readonly log: Log;
};

/** Header with the provider's signature of the body, if a signing secret is set. */
const signatureHeader = "x-signature";

const methods = ["POST", "PUT"];
/** Methods that a service uses to check that the address exists. */
const probes = ["GET", "HEAD"];

/** Answers OPTIONS with 204, probes with 200 if the settings allow them, and other methods with 405. */
export function allowMethods({ answersProbes }: ReceiverDependencies): middy.MiddlewareObj<Event, Result> {
  const allow = [...methods, ...(answersProbes ? probes : []), "OPTIONS"].join(", ");
  return {
    before: ({ event }) => {
      const { method } = event.requestContext.http;
      if (methods.includes(method)) return undefined;
      if (method === "OPTIONS") return { statusCode: 204, headers: { allow } };
      if (answersProbes && probes.includes(method)) return { statusCode: 200, headers: { allow } };
      return answer(405, "method not allowed", { allow });
    },
  };
}

/** Answers 403 to a webhook from an address that the settings don't allow. */
export function allowSources(
  kind: WebhookKind,
  { isAllowedSource, log }: ReceiverDependencies,
): middy.MiddlewareObj<Event, Result> {
  return {
    before: ({ event }) => {
      const source = event.requestContext.http.sourceIp;
      if (isAllowedSource(source)) return undefined;
      log("WEBHOOK_REFUSED", { kind, reason: "source address", source });
      return answer(403, "forbidden");
    },
  };
}

/** Answers 413 to a body over the limit, before the secret is read. */
export function limitBody(
  kind: WebhookKind,
  { maxBodyBytes, log }: ReceiverDependencies,
): middy.MiddlewareObj<Event, Result> {
  return {
    before: ({ event }) => {
      const { body = "", isBase64Encoded } = event;
      if (Buffer.byteLength(body, isBase64Encoded ? "base64" : "utf8") <= maxBodyBytes) return undefined;
      return refuseBody(kind, event, log);
    },
  };
}

export function refuseBody(kind: WebhookKind, { requestContext }: Event, log: Log): Result {
  log("WEBHOOK_REFUSED", { kind, reason: "body size", source: requestContext.http.sourceIp });
  return answer(413, "body too large");
}

/** Answers 401 unless the kind's secret and, if bodies are signed, the signature are valid. */
export function authenticate(
  kind: WebhookKind,
  { readSecret, secretHeader, mappedHeaders, now, log }: ReceiverDependencies,
): middy.MiddlewareObj<Event, Result> {
  let cached: { readonly secret: WebhookSecret; readonly isAuthentic: IsAuthentic } | undefined;
  // The reader returns the same object while it caches the secret.
  const isAuthenticBy = (secret: WebhookSecret): IsAuthentic => {
    if (cached?.secret !== secret) cached = { secret, isAuthentic: authenticator(secret, kind) };
    return cached.isAuthentic;
  };
  const refuse = (reason: string, { requestContext }: Event) => {
    log("WEBHOOK_REFUSED", { kind, reason, source: requestContext.http.sourceIp });
    return answer(401, "unauthorized");
  };
  return {
    before: async ({ event }) => {
      const secret = await readSecret();
      if (secret === undefined) {
        log("WEBHOOK_SECRET_EMPTY", { kind });
        return answer(503, "not configured");
      }
      // API Gateway joins repeated headers with commas, which makes the secret invalid.
      if (!isAuthenticBy(secret)(presentedIn(secretHeader, event.headers), now()))
        return refuse("secret", event);
      if (!isSigned(rawBodyOf(event), event.headers[signatureHeader], secret, now()))
        return refuse("signature", event);
      // The signature covers only the body: an event must not use headers that nobody signed.
      const isUnsigned = secret.signing !== undefined && mappedHeaders.some((name) => name in event.headers);
      if (isUnsigned) return refuse("unsigned header", event);
      return undefined;
    },
  };
}

export function rawBodyOf({ body = "", isBase64Encoded }: Event): Buffer {
  return Buffer.from(body, isBase64Encoded ? "base64" : "utf8");
}

export function answer(statusCode: number, message: string, headers: Record<string, string> = {}): Result {
  return {
    statusCode,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ message }),
  };
}
