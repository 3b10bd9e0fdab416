import { FailureError, failureOf, permanent } from "../../domain/core/failures.ts";
import { acceptedByAll } from "../../domain/core/secret-registration.ts";
import {
  headerWith,
  type SecretHeader,
  signatureHeader,
  signatureOf,
  valueOfKind,
  type WebhookSecret,
} from "../../domain/core/webhook-secret.ts";
import { canaryBody } from "../../domain/event/events.ts";
import type { Log } from "../runtime/log.ts";

const kind = "users";
const answerWithinMs = 30_000;

/**
 * Sends one synthetic webhook and waits until it is on the canary's queue.
 * @returns a run, which fails if the webhook is refused or does not arrive in time
 */
export function canary({
  readSecret,
  secretHeader,
  webhooksUrl,
  hasArrived,
  newId,
  withinSeconds,
  now,
  log,
}: {
  readonly readSecret: () => Promise<WebhookSecret | undefined>;
  readonly secretHeader: SecretHeader;
  /** Base address of the webhooks. */
  readonly webhooksUrl: string;
  /** Whether a canary is on the queue; waits some seconds for it. */
  readonly hasArrived: (id: string) => Promise<boolean>;
  readonly newId: () => string;
  readonly withinSeconds: number;
  readonly now: () => Date;
  readonly log: Log;
}): () => Promise<void> {
  return async () => {
    const correlationId = newId();
    const end = now().getTime() + withinSeconds * 1_000;
    try {
      const secret = await readSecret();
      if (secret === undefined) throw permanent("the webhook secret has no value");
      const body = canaryBody(correlationId);
      await send(body, webhooksUrl, headersOf(body, acceptedByAll(secret, now()), secretHeader));
      while (!(await hasArrived(correlationId))) {
        if (now().getTime() >= end) throw permanent(`it did not arrive within ${withinSeconds} s`);
      }
    } catch (error) {
      const failure = failureOf(error);
      log("CANARY_MISSING", { correlationId, reason: failure.reason });
      throw new FailureError(failure);
    }
    log("CANARY_ARRIVED", { correlationId });
  };
}

function headersOf(
  body: string,
  { current, signing }: Pick<WebhookSecret, "current" | "signing">,
  secretHeader: SecretHeader,
): Readonly<Record<string, string>> {
  return {
    "content-type": "application/json",
    ...headerWith(secretHeader, valueOfKind(current, kind)),
    ...(signing !== undefined && { [signatureHeader]: signatureOf(body, signing) }),
  };
}

/** @throws permanent failure unless the API accepts the body */
async function send(
  body: string,
  webhooksUrl: string,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const answer = await fetch(`${webhooksUrl}/${kind}`, {
    method: "POST",
    headers,
    body,
    signal: AbortSignal.timeout(answerWithinMs),
  }).catch((error: unknown) => {
    throw permanent(`the API does not answer (${error instanceof Error ? error.name : "unknown"})`);
  });
  await answer.arrayBuffer();
  if (!answer.ok) throw permanent(`the API answered ${answer.status}`);
}
