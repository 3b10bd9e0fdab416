import middy from "@middy/core";
import type { OverflowBucket } from "../../adapters/s3/overflow-bucket.ts";
import type { Send } from "../../adapters/sqs/sqs-sender.ts";
import { FailureError, failureOf } from "../../domain/core/failures.ts";
import {
  type Body,
  bodyOf,
  type Envelope,
  envelopeVersion,
  inlineLimitInBytes,
  writeEnvelope,
} from "../../domain/event/envelope.ts";
import type { WebhookKind } from "../../domain/event/events.ts";
import { identify } from "../../domain/event/identify.ts";
import { type MappedHeaders, pickHeaders } from "../../domain/event/mapping-source.ts";
import { type CredentialFields, inspectPayload } from "../../domain/event/payload.ts";
import type { Log } from "../runtime/log.ts";
import {
  type AdmissionDependencies,
  allowMethods,
  allowSources,
  answer,
  authenticate,
  type Event,
  limitBody,
  type Result,
  rawBodyOf,
} from "./admission.ts";

export type ReceiverDependencies = AdmissionDependencies & {
  readonly send: Send;
  readonly overflow: OverflowBucket;
  readonly queueUrl: string;
  readonly deadLetterQueueUrl: string;
  /** Fields that no body keeps. */
  readonly credentials: CredentialFields;
};

/**
 * Receives the webhooks of one kind: 2xx only when the event is durable in SQS, else 4xx or 5xx, so that the
 * provider sends it again.
 */
export function receiver(kind: WebhookKind, dependencies: ReceiverDependencies) {
  return middy<Event, Result>({ timeoutEarlyInMillis: 0 })
    .use(answerFailures(kind, dependencies.log))
    .use(allowMethods(["POST", "PUT"]))
    .use(allowSources(kind, dependencies))
    .use(limitBody(kind, dependencies))
    .use(authenticate(kind, dependencies))
    .handler((event) => accept(kind, event, dependencies));
}

async function accept(kind: WebhookKind, event: Event, dependencies: ReceiverDependencies): Promise<Result> {
  const raw = rawBodyOf(event);
  const headers = pickHeaders(dependencies.mappedHeaders, event.headers);
  const id = identify(kind, raw, headers);
  try {
    return await makeDurable({ kind, id, raw, headers }, dependencies);
  } catch (error) {
    return tryAgain(kind, error, dependencies.log, id);
  }
}

async function makeDurable(
  {
    kind,
    id,
    raw,
    headers,
  }: {
    readonly kind: WebhookKind;
    readonly id: string;
    readonly raw: Buffer;
    readonly headers: MappedHeaders;
  },
  dependencies: ReceiverDependencies,
): Promise<Result> {
  const { send, queueUrl, deadLetterQueueUrl, now, log } = dependencies;
  const payload = inspectPayload(raw, headers, dependencies.credentials);
  const body = payload.ok
    ? bodyOf(payload.bytes)
    : unreadable(kind, raw, payload.error, dependencies.credentials);
  const carried = Object.keys(headers).length === 0 ? {} : { headers };
  const message = await serialize(
    { schemaVersion: envelopeVersion, kind, id, receivedAt: now().toISOString(), ...carried, body },
    dependencies,
  );
  const [failure] = payload.ok
    ? await send(queueUrl, [{ body: message }])
    : await send(deadLetterQueueUrl, [{ body: message, reason: payload.error }]);
  if (failure !== undefined) throw new FailureError(failure);
  log(payload.ok ? "WEBHOOK_ACCEPTED" : "WEBHOOK_UNREADABLE", { kind, correlationId: id });
  return { statusCode: 202 };
}

/** Credentials can't be dropped from a body that can't be read: a users' body, and one that may hold some, is not kept. */
function unreadable(kind: WebhookKind, raw: Buffer, error: string, { mayBeIn }: CredentialFields): Body {
  return kind === "users" || mayBeIn(raw.toString("latin1"))
    ? { as: "withheld", bytes: raw.byteLength, error }
    : bodyOf(raw);
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

function answerFailures(kind: WebhookKind, log: Log): middy.MiddlewareObj<Event, Result> {
  return {
    onError: (request) => {
      request.response = tryAgain(kind, request.error, log);
    },
  };
}

/** @param correlationId of the event; absent where it failed before there was one */
function tryAgain(kind: WebhookKind, error: unknown, log: Log, correlationId?: string): Result {
  log("WEBHOOK_FAILED", { kind, correlationId, reason: failureOf(error).reason });
  return answer(503, "try again", { "retry-after": "30" });
}
