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
import { bodyOf, envelopeVersion, identify } from "../../domain/event/envelope.ts";
import { canaryBytes, canaryIn, type WebhookKind, webhookKinds } from "../../domain/event/events.ts";
import { type MappedHeaders, pickHeaders } from "../../domain/event/mapping-source.ts";
import { type credentialFields, inspectPayload, type Payload } from "../../domain/event/payload.ts";
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
  // The reader returns the same object while it caches the secret.
  let checked: WebhookSecret | undefined;
  let isAuthentic: ReturnType<typeof authenticator> = () => false;
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
      if (secret !== checked) [checked, isAuthentic] = [secret, authenticator(secret, kind)];
      // API Gateway joins repeated headers with commas, which makes the secret invalid.
      if (!isAuthentic(presentedIn(secretHeader, event.headers), now())) return refuse("secret", event);
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

/** Maximum number of body digests kept per execution environment. */
const maxDigests = 1_000;
const betweenRequestsInMillis = 3_600_000;

/** Counts webhooks whose bodies could not be kept, within one execution environment. */
export class LostWebhooks {
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

/**
 * Receives the webhooks of one kind. Answers 2xx only once the event is durable in SQS, otherwise 4xx or 5xx,
 * so that the provider sends it again.
 */
export function receiver(kind: WebhookKind, dependencies: ReceiverDependencies) {
  const lost = new LostWebhooks(dependencies.now, dependencies.requestReconciliation);
  return middy<Event, Result>({ timeoutEarlyInMillis: 0 })
    .use(answerFailures(kind, dependencies.log))
    .use(allowMethods(dependencies))
    .use(allowSources(kind, dependencies))
    .use(limitBody(kind, dependencies))
    .use(authenticate(kind, dependencies))
    .handler((event) => accept(kind, event, dependencies, lost));
}

class BodyTooLarge extends Error {}

/** The signature covers the bytes as sent; from here on the decoded body is used. */
async function accept(
  kind: WebhookKind,
  event: Event,
  dependencies: ReceiverDependencies,
  lost: LostWebhooks,
): Promise<Result> {
  const { mappedHeaders, maxBodyBytes, credentials, log } = dependencies;
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
    if (error instanceof BodyTooLarge) return refuseBody(kind, event, log);
    if (!(error instanceof FailureError)) throw error;
    return keepNothing(sent, "not in its content coding");
  }
  const payload = inspectPayload(body, headers, credentials);
  if (!payload.ok && mayHoldCredentials(kind, body, credentials)) return keepNothing(body, payload.error);
  const id = identify(kind, body, headers);
  try {
    return await makeDurable({ kind, id, payload, body, headers }, dependencies);
  } catch (error) {
    return tryAgain(kind, error, log, id);
  }
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

async function makeDurable(
  {
    kind,
    id,
    payload,
    body,
    headers,
  }: {
    readonly kind: WebhookKind;
    readonly id: string;
    readonly payload: Payload;
    readonly body: Uint8Array;
    readonly headers: MappedHeaders;
  },
  dependencies: ReceiverDependencies,
): Promise<Result> {
  const { send, queueUrl, deadLetterQueueUrl, now, log } = dependencies;
  const carried = Object.keys(headers).length === 0 ? {} : { headers };
  const { message } = await sizedEnvelope(
    {
      schemaVersion: envelopeVersion,
      kind,
      id,
      receivedAt: now().toISOString(),
      ...carried,
      body: bodyOf(payload.ok ? payload.bytes : body),
    },
    dependencies.overflow,
  );
  const [failure] = payload.ok
    ? await send(queueUrl, [{ body: message }])
    : await send(deadLetterQueueUrl, [{ body: message, reason: payload.error }]);
  if (failure !== undefined) throw new FailureError(failure);
  // A canary does not show that the provider's webhooks arrive.
  if (!isCanary(body))
    log(payload.ok ? "WEBHOOK_ACCEPTED" : "WEBHOOK_UNREADABLE", { kind, correlationId: id });
  return { statusCode: 202 };
}

function isCanary(body: Uint8Array): boolean {
  return body.length === canaryBytes && canaryIn(Buffer.from(body).toString()) !== undefined;
}

function answerFailures(kind: WebhookKind, log: Log): middy.MiddlewareObj<Event, Result> {
  return {
    onError: (request) => {
      request.response = tryAgain(kind, request.error, log);
    },
  };
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
