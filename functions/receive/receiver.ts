import middy from "@middy/core";
import type {
  Context,
  APIGatewayProxyEventV2 as Event,
  APIGatewayProxyStructuredResultV2 as Result,
} from "aws-lambda";
import { plainBody } from "../../adapters/aws/content.ts";
import { type OverflowBucket, sizedEnvelope } from "../../adapters/s3/overflow-bucket.ts";
import type { Send } from "../../adapters/sqs/sqs-sender.ts";
import { FailureError, failureOf } from "../../domain/core/failures.ts";
import {
  authenticator,
  isSigned,
  presentedIn,
  type SecretHeader,
  signatureHeader,
  type WebhookSecret,
} from "../../domain/core/webhook-secret.ts";
import { bodyOf, type Envelope, envelopeVersion, identify } from "../../domain/event/envelope.ts";
import { canaryBytes, canaryIn, type WebhookKind, webhookKinds } from "../../domain/event/events.ts";
import { pickHeaders } from "../../domain/event/mapping-source.ts";
import { type credentialFields, inspectPayload } from "../../domain/event/payload.ts";
import type { Log } from "../runtime/log.ts";

export type ReceiverDependencies = {
  readonly send: Send;
  readonly overflow: OverflowBucket;
  readonly queueUrl: string;
  readonly deadLetterQueueUrl: string;
  /** Requests a reconciliation to recover lost webhooks. */
  readonly requestReconciliation: () => Promise<void>;
  /** Fields to remove from every body. */
  readonly credentials: ReturnType<typeof credentialFields>;
  readonly secretHeader: SecretHeader;
  readonly isAllowedSource: (address: string) => boolean;
  readonly maxBodyBytes: number;
  /** Whether to answer GET and HEAD with 200. */
  readonly answersProbes: boolean;
  /** Lower-case names of the headers that the mapping reads; no others are kept. */
  readonly mappedHeaders: readonly string[];
  readonly readSecret: () => Promise<WebhookSecret | undefined>;
  readonly now: () => Date;
  readonly log: Log;
};

/**
 * Receives the webhooks of one kind. Answers 2xx only once the event is durable in SQS, otherwise 4xx or 5xx,
 * so that the provider sends it again.
 */
export function receiver(kind: WebhookKind, dependencies: ReceiverDependencies) {
  const { now, requestReconciliation, log } = dependencies;
  const lost = new LostWebhooks(now, requestReconciliation);
  const answerForged = forgeryCheck(kind, dependencies);
  return middy<Event, Result>({ timeoutEarlyInMillis: 0 })
    .onError((request) => {
      request.response = tryAgain(kind, request.error, log);
    })
    .handler(
      async (event) =>
        answerEarly(kind, event, dependencies) ??
        (await answerForged(event)) ??
        accept(kind, event, dependencies, lost),
    );
}

const methods = ["POST", "PUT"];
/** Methods that a service uses to check that the address exists. */
const probes = ["GET", "HEAD"];

/**
 * Answers before the secret is read: other methods than those of webhooks, sources that the settings don't allow, and
 * bodies over the limit, which are not decoded.
 */
function answerEarly(
  kind: WebhookKind,
  event: Event,
  { answersProbes, isAllowedSource, maxBodyBytes, log }: ReceiverDependencies,
): Result | undefined {
  const { body = "", isBase64Encoded } = event;
  const { method, sourceIp } = event.requestContext.http;
  if (!methods.includes(method)) {
    const allow = [...methods, ...(answersProbes ? probes : []), "OPTIONS"].join(", ");
    if (method === "OPTIONS") return { statusCode: 204, headers: { allow } };
    if (answersProbes && probes.includes(method)) return { statusCode: 200, headers: { allow } };
    return answer(405, "method not allowed", { allow });
  }
  if (!isAllowedSource(sourceIp)) return refuse(kind, event, "source address", log);
  const bytes = Buffer.byteLength(body, isBase64Encoded ? "base64" : "utf8");
  return bytes > maxBodyBytes ? refuse(kind, event, "body size", log) : undefined;
}

/** Answers a webhook unless the kind's secret and, if bodies are signed, the signature are valid. */
function forgeryCheck(
  kind: WebhookKind,
  { readSecret, secretHeader, mappedHeaders, now, log }: ReceiverDependencies,
) {
  // The reader returns the same object while it caches the secret.
  let checked: WebhookSecret | undefined;
  let isAuthentic: ReturnType<typeof authenticator> = () => false;
  return async (event: Event): Promise<Result | undefined> => {
    const secret = await readSecret();
    if (secret === undefined) {
      log("WEBHOOK_SECRET_EMPTY", { kind });
      return answer(503, "not configured");
    }
    if (secret !== checked) [checked, isAuthentic] = [secret, authenticator(secret, kind)];
    // API Gateway joins repeated headers with commas, which makes the secret invalid.
    if (!isAuthentic(presentedIn(secretHeader, event.headers), now()))
      return refuse(kind, event, "secret", log);
    if (!isSigned(rawBodyOf(event), event.headers[signatureHeader], secret, now()))
      return refuse(kind, event, "signature", log);
    // The signature covers only the body: an event must not use headers that nobody signed.
    const isUnsigned = secret.signing !== undefined && mappedHeaders.some((name) => name in event.headers);
    return isUnsigned ? refuse(kind, event, "unsigned header", log) : undefined;
  };
}

/** The answers to webhooks that are refused, by the reason in the log. */
const refusals = {
  "source address": answer(403, "forbidden"),
  "body size": answer(413, "body too large"),
  secret: answer(401, "unauthorized"),
  signature: answer(401, "unauthorized"),
  "unsigned header": answer(401, "unauthorized"),
} as const;

function refuse(
  kind: WebhookKind,
  { requestContext }: Event,
  reason: keyof typeof refusals,
  log: Log,
): Result {
  log("WEBHOOK_REFUSED", { kind, reason, source: requestContext.http.sourceIp });
  return refusals[reason];
}

function rawBodyOf({ body = "", isBase64Encoded }: Event): Buffer {
  return Buffer.from(body, isBase64Encoded ? "base64" : "utf8");
}

function answer(statusCode: number, message: string, headers: Record<string, string> = {}): Result {
  return {
    statusCode,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ message }),
  };
}

/** Maximum number of body digests kept per execution environment. */
const maxDigests = 1_000;
const betweenRequestsInMillis = 3_600_000;

/** Counts webhooks whose bodies could not be kept, within one execution environment. */
class LostWebhooks {
  readonly #now: () => Date;
  readonly #request: () => Promise<void>;
  readonly #counts = new Map<string, number>();
  #requestedAt = Number.NEGATIVE_INFINITY;

  constructor(now: () => Date, request: () => Promise<void>) {
    this.#now = now;
    this.#request = request;
  }

  /** @returns how often this digest was counted, including this call */
  count(digest: string): number {
    const count = (this.#counts.get(digest) ?? 0) + 1;
    this.#counts.delete(digest);
    this.#counts.set(digest, count);
    const [oldest] = this.#counts.keys();
    if (this.#counts.size > maxDigests && oldest !== undefined) this.#counts.delete(oldest);
    return count;
  }

  /** Requests a reconciliation at most once an hour. If that fails, the provider's next retry does. */
  async requestReconciliation(): Promise<void> {
    const at = this.#now().getTime();
    if (at - this.#requestedAt < betweenRequestsInMillis) return;
    this.#requestedAt = at;
    try {
      await this.#request();
    } catch {
      this.#requestedAt = Number.NEGATIVE_INFINITY;
    }
  }
}

class BodyTooLarge extends Error {}

/** The signature covers the bytes as sent; from here on the decoded body is used. */
async function accept(
  kind: WebhookKind,
  event: Event,
  dependencies: ReceiverDependencies,
  lost: LostWebhooks,
): Promise<Result> {
  const { mappedHeaders, maxBodyBytes, credentials, overflow, send, now, log } = dependencies;
  const headers = pickHeaders(mappedHeaders, event.headers);
  const keepNothing = async (bytes: Uint8Array, reason: string) => {
    const correlationId = identify(kind, bytes, headers);
    log("WEBHOOK_NOT_KEPT", { kind, correlationId, reason, count: lost.count(correlationId) });
    await lost.requestReconciliation();
    return answer(503, "unreadable", { "retry-after": "30" });
  };
  const sent = rawBodyOf(event);
  let body: Uint8Array;
  try {
    body = await plainBody(sent, event.headers, maxBodyBytes, () => new BodyTooLarge());
  } catch (error) {
    if (error instanceof BodyTooLarge) return refuse(kind, event, "body size", log);
    if (!(error instanceof FailureError)) throw error;
    return keepNothing(sent, "not in its content coding");
  }
  const payload = inspectPayload(body, headers, credentials);
  if (!payload.ok && mayHoldCredentials(kind, body, credentials)) return keepNothing(body, payload.error);
  const id = identify(kind, body, headers);
  try {
    const envelope: Envelope = {
      ...{ schemaVersion: envelopeVersion, kind, id, receivedAt: now().toISOString() },
      ...(Object.keys(headers).length > 0 && { headers }),
      body: bodyOf(payload.ok ? payload.bytes : body),
    };
    const { message } = await sizedEnvelope(envelope, overflow);
    const [failure] = payload.ok
      ? await send(dependencies.queueUrl, [{ body: message }])
      : await send(dependencies.deadLetterQueueUrl, [{ body: message, reason: payload.error }]);
    if (failure !== undefined) throw new FailureError(failure);
  } catch (error) {
    return tryAgain(kind, error, log, id);
  }
  // A canary does not show that the provider's webhooks arrive.
  if (!isCanary(body))
    log(payload.ok ? "WEBHOOK_ACCEPTED" : "WEBHOOK_UNREADABLE", { kind, correlationId: id });
  return { statusCode: 202 };
}

/** Whether an unreadable body may hold credentials, which can't be removed. Bodies of users always may. */
function mayHoldCredentials(
  kind: WebhookKind,
  body: Uint8Array,
  { mayBeIn }: ReceiverDependencies["credentials"],
): boolean {
  if (body.length === 0) return false;
  // In UTF-16 each letter of a name has a zero byte next to it.
  return kind === "users" || mayBeIn(Buffer.from(body).toString("latin1").replaceAll("\0", ""));
}

function isCanary(body: Uint8Array): boolean {
  return body.length === canaryBytes && canaryIn(Buffer.from(body).toString()) !== undefined;
}

/** @param correlationId of the event; absent if the failure came before it was known */
function tryAgain(kind: WebhookKind, error: unknown, log: Log, correlationId?: string): Result {
  log("WEBHOOK_FAILED", { kind, correlationId, reason: failureOf(error).reason });
  return answer(503, "try again", { "retry-after": "30" });
}

/**
 * Receives webhooks at paths that match no route: in another letter case, or with a trailing or double slash.
 * Other paths get 404, which the API's access log counts.
 */
export function otherPaths<Receiver extends (event: Event, context: Context) => Promise<Result>>(
  receiverOf: (kind: WebhookKind) => Receiver,
) {
  const receivers = new Map<WebhookKind, Receiver>();
  return async (event: Event, context: Context): Promise<Result> => {
    const kind = kindOfPath(event.rawPath);
    if (kind === undefined) return answer(404, "not found");
    const receive = receivers.get(kind) ?? receiverOf(kind);
    receivers.set(kind, receive);
    return receive(event, context);
  };
}

/** @returns undefined if the path belongs to no kind */
export function kindOfPath(path: string): WebhookKind | undefined {
  const [webhooks, name, ...more] = path.toLowerCase().split("/").filter(Boolean);
  if (webhooks !== "webhooks" || more.length > 0) return undefined;
  return webhookKinds.find((kind) => kind === name);
}
