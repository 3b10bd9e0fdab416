import type middy from "@middy/core";
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from "aws-lambda";
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
import type { Log } from "../runtime/log.ts";

export type Event = APIGatewayProxyEventV2;
export type Result = APIGatewayProxyStructuredResultV2;

/** What decides whether a webhook is let in; the cheapest checks come first. */
export type AdmissionDependencies = {
  readonly secretHeader: SecretHeader;
  readonly isAllowedSource: IsAllowedSource;
  readonly maxBodyBytes: number;
  /** Whether GET and HEAD are answered 200. */
  readonly answersProbes: boolean;
  /** Names of headers, in lower case, that the mapping reads: no others are carried. */
  readonly mappedHeaders: readonly string[];
  readonly readSecret: () => Promise<WebhookSecret | undefined>;
  readonly now: () => Date;
  readonly log: Log;
};

/** The provider's signature of a body, where a signing secret is set. */
const signatureHeader = "x-signature";

/** What a webhook comes by. */
const methods = ["POST", "PUT"];
/** By what a service looks whether the address exists. */
const probes = ["GET", "HEAD"];

/** Answers any other method: 405, or 200 to a probe where the settings say so, and 204 to OPTIONS. None has an effect. */
export function allowMethods({ answersProbes }: AdmissionDependencies): middy.MiddlewareObj<Event, Result> {
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

/** Answers 403 to a webhook from an address that is not in the settings. */
export function allowSources(
  kind: WebhookKind,
  { isAllowedSource, log }: AdmissionDependencies,
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

/** Answers 413 to a body over the limit, before anything is read for it. */
export function limitBody(
  kind: WebhookKind,
  { maxBodyBytes, log }: AdmissionDependencies,
): middy.MiddlewareObj<Event, Result> {
  return {
    before: ({ event }) => {
      const { body = "", isBase64Encoded } = event;
      if (Buffer.byteLength(body, isBase64Encoded ? "base64" : "utf8") <= maxBodyBytes) return undefined;
      return refuseBody(kind, event, log);
    },
  };
}

/** Answers 413. */
export function refuseBody(kind: WebhookKind, { requestContext }: Event, log: Log): Result {
  log("WEBHOOK_REFUSED", { kind, reason: "body size", source: requestContext.http.sourceIp });
  return answer(413, "body too large");
}

/** Answers 401 unless the secret header is right for the kind, and, where one is asked for, the signature, which covers the body alone. */
export function authenticate(
  kind: WebhookKind,
  { readSecret, secretHeader, mappedHeaders, now, log }: AdmissionDependencies,
): middy.MiddlewareObj<Event, Result> {
  let known: { readonly secret: WebhookSecret; readonly isAuthentic: IsAuthentic } | undefined;
  // Who reads secrets keeps one for a while.
  const isAuthenticBy = (secret: WebhookSecret): IsAuthentic => {
    if (known?.secret !== secret) known = { secret, isAuthentic: authenticator(secret, kind) };
    return known.isAuthentic;
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
      // A header that is repeated comes joined by commas, and so is no valid secret.
      if (!isAuthenticBy(secret)(presentedIn(secretHeader, event.headers), now()))
        return refuse("secret", event);
      if (!isSigned(rawBodyOf(event), event.headers[signatureHeader], secret, now()))
        return refuse("signature", event);
      // The signature covers the body alone: an event would be made of what nobody signed.
      const isUnsigned = secret.signing !== undefined && mappedHeaders.some((name) => name in event.headers);
      if (isUnsigned) return refuse("unsigned header", event);
      return undefined;
    },
  };
}

/** The body's bytes as they were sent. */
export function rawBodyOf({ body = "", isBase64Encoded }: Event): Buffer {
  return Buffer.from(body, isBase64Encoded ? "base64" : "utf8");
}

/** An answer with a message as JSON. */
export function answer(statusCode: number, message: string, headers: Record<string, string> = {}): Result {
  return {
    statusCode,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ message }),
  };
}
