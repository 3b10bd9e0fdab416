import middy from "@middy/core";
import { plainBody } from "../../adapters/content-coding.ts";
import { FailureError, failureOf } from "../../domain/core/failures.ts";
import { canaryBytes, canaryIn } from "../../domain/event/canary.ts";
import { bodyOf, envelopeVersion } from "../../domain/event/envelope.ts";
import type { WebhookKind } from "../../domain/event/events.ts";
import { identify } from "../../domain/event/identify.ts";
import { type MappedHeaders, pickHeaders } from "../../domain/event/mapping-source.ts";
import { type CredentialFields, inspectPayload, type Payload } from "../../domain/event/payload.ts";
import type { Log } from "../runtime/log.ts";
import { sizedEnvelope } from "../runtime/sized-envelope.ts";
import {
  allowMethods,
  allowSources,
  answer,
  authenticate,
  type Event,
  limitBody,
  type ReceiverDependencies,
  type Result,
  rawBodyOf,
  refuseBody,
} from "./admission.ts";
import { LostWebhooks } from "./lost-webhooks.ts";

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
function mayHoldCredentials(kind: WebhookKind, body: Uint8Array, { mayBeIn }: CredentialFields): boolean {
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
  // A canary is no sign that the provider's webhooks come.
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
