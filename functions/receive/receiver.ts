import middy from "@middy/core";
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import type { OverflowBucket } from "../../adapters/overflow-bucket.ts";
import type { Send } from "../../adapters/sqs-sender.ts";
import {
  type Body,
  bodyOf,
  type Envelope,
  envelopeVersion,
  inlineLimitInBytes,
  writeEnvelope,
} from "../../domain/envelope.ts";
import type { Kind } from "../../domain/events.ts";
import { FailureError, failureOf } from "../../domain/failures.ts";
import { identify } from "../../domain/identify.ts";
import { inspectPayload } from "../../domain/payload.ts";
import type { IsAllowedSource } from "../../domain/source-addresses.ts";
import { isAuthentic, isSigned, type WebhookSecret } from "../../domain/webhook-secret.ts";
import type { Log } from "../runtime/log.ts";

export type ReceiverDependencies = {
  readonly send: Send;
  readonly overflow: OverflowBucket;
  readonly queueUrl: string;
  readonly deadLetterQueueUrl: string;
  readonly secretHeader: string;
  readonly isAllowedSource: IsAllowedSource;
  readonly readSecret: () => Promise<WebhookSecret | undefined>;
  readonly now: () => Date;
  readonly log: Log;
};

/** The provider's signature of a body, where a signing secret is set. */
const signatureHeader = "x-signature";

type Event = APIGatewayProxyEventV2;
type Result = APIGatewayProxyStructuredResultV2;

/**
 * Receives the webhooks of one kind: 2xx only when the event is durable in SQS, else 4xx or 5xx, so that the
 * provider sends it again.
 */
export function receiver(kind: Kind, dependencies: ReceiverDependencies) {
  return middy<Event, Result>({ timeoutEarlyInMillis: 0 })
    .use(answerFailures(kind, dependencies.log))
    .use(allowMethods(["POST", "PUT"]))
    .use(allowSources(kind, dependencies))
    .use(authenticate(kind, dependencies))
    .handler((event) => accept(kind, rawBodyOf(event), dependencies));
}

async function accept(kind: Kind, raw: Buffer, dependencies: ReceiverDependencies): Promise<Result> {
  const { send, queueUrl, deadLetterQueueUrl, now, log } = dependencies;
  const id = identify(kind, raw);
  const payload = inspectPayload(kind, raw);
  const body = payload.ok ? bodyOf(payload.bytes) : unreadable(kind, raw, payload.error);
  const message = await serialize(
    { schemaVersion: envelopeVersion, kind, id, receivedAt: now().toISOString(), body },
    dependencies,
  );
  const [failure] = payload.ok
    ? await send(queueUrl, [{ body: message }])
    : await send(deadLetterQueueUrl, [{ body: message, reason: payload.error }]);
  if (failure !== undefined) throw new FailureError(failure);
  log(payload.ok ? "WEBHOOK_ACCEPTED" : "WEBHOOK_UNREADABLE", { kind, id });
  return { statusCode: 202 };
}

/** Of a users' body that can't be read its credentials can't be dropped either: it is not kept. */
function unreadable(kind: Kind, raw: Buffer, error: string): Body {
  return kind === "users" ? { as: "withheld", bytes: raw.byteLength, error } : bodyOf(raw);
}

/** Serializes an envelope; a body that is too large goes to the overflow bucket, with a pointer in its place. */
async function serialize(envelope: Envelope, { overflow }: ReceiverDependencies): Promise<string> {
  const message = writeEnvelope(envelope);
  const { body, kind, id } = envelope;
  if (Buffer.byteLength(message) <= inlineLimitInBytes || (body.as !== "text" && body.as !== "base64")) {
    return message;
  }
  const content = body.as === "text" ? body.text : body.base64;
  const key = `bodies/${kind}/${id}`;
  await overflow.put(key, content);
  return writeEnvelope({
    ...envelope,
    body: { as: "object", key, of: body.as, bytes: Buffer.byteLength(content) },
  });
}

function rawBodyOf({ body = "", isBase64Encoded }: Event): Buffer {
  return Buffer.from(body, isBase64Encoded ? "base64" : "utf8");
}

function allowMethods(methods: readonly string[]): middy.MiddlewareObj<Event, Result> {
  return {
    before: ({ event }) => {
      if (methods.includes(event.requestContext.http.method)) return undefined;
      return answer(405, "method not allowed", { allow: methods.join(", ") });
    },
  };
}

function allowSources(
  kind: Kind,
  { isAllowedSource, log }: ReceiverDependencies,
): middy.MiddlewareObj<Event, Result> {
  return {
    before: ({ event }) => {
      if (isAllowedSource(event.requestContext.http.sourceIp)) return undefined;
      log("WEBHOOK_REFUSED", { kind, reason: "source address" });
      return answer(403, "forbidden");
    },
  };
}

function authenticate(
  kind: Kind,
  { readSecret, secretHeader, now, log }: ReceiverDependencies,
): middy.MiddlewareObj<Event, Result> {
  const header = secretHeader.toLowerCase();
  const refuse = (reason: string) => {
    log("WEBHOOK_REFUSED", { kind, reason });
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
      if (!isAuthentic(event.headers[header], secret, now())) return refuse("secret");
      if (!isSigned(rawBodyOf(event), event.headers[signatureHeader], secret)) return refuse("signature");
      return undefined;
    },
  };
}

function answerFailures(kind: Kind, log: Log): middy.MiddlewareObj<Event, Result> {
  return {
    onError: (request) => {
      log("WEBHOOK_FAILED", { kind, reason: failureOf(request.error).reason });
      request.response = answer(503, "try again", { "retry-after": "30" });
    },
  };
}

function answer(statusCode: number, message: string, headers: Record<string, string> = {}): Result {
  return {
    statusCode,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ message }),
  };
}
