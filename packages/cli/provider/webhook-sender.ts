import {
  headerWith,
  type SecretHeader,
  signatureHeader,
  signatureOf,
  valueOfKind,
  type WebhookSecret,
} from "../../../domain/core/webhook-secret.ts";
import type { WebhookKind } from "../../../domain/event/events.ts";

export type Webhook = {
  readonly kind: WebhookKind;
  readonly method: "POST" | "PUT" | "GET" | "DELETE";
  /** Which secret to send; `none` sends none, as a stranger would. */
  readonly authentication: "right" | "wrong" | "none";
  readonly body?: string;
};

export type WebhookTarget = {
  readonly webhooksUrl: string;
  readonly secretHeader: SecretHeader;
  readonly secret: WebhookSecret;
};

/** The answer's status, or why there was no answer. */
export type Answer = number | string;

/** Longer than API Gateway's own time-out. */
const answerTimeoutInMs = 35_000;

export async function sendWebhook(target: WebhookTarget, webhook: Webhook): Promise<Answer> {
  const { kind, method, body } = webhook;
  try {
    const response = await fetch(`${target.webhooksUrl}/${kind}`, {
      method,
      headers: headersOf(target, webhook),
      ...(body !== undefined && { body }),
      redirect: "manual",
      signal: AbortSignal.timeout(answerTimeoutInMs),
    });
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    return noAnswer(error);
  }
}

/** The reason for no answer, from the error's cause if it has one. */
export function noAnswer(error: unknown): string {
  if (!(error instanceof Error)) return `no answer (${String(error)})`;
  const { cause, message } = error;
  return `no answer (${cause instanceof Error && cause.message !== "" ? cause.message : message})`;
}

function headersOf(
  { secretHeader, secret: { current, signing } }: WebhookTarget,
  { kind, authentication, body = "" }: Webhook,
): Record<string, string> {
  const headers = { "content-type": "application/json" };
  switch (authentication) {
    case "none":
      return headers;
    case "wrong":
      return { ...headers, ...headerWith(secretHeader, "a-wrong-secret") };
    case "right":
      return {
        ...headers,
        ...(signing !== undefined && { [signatureHeader]: signatureOf(body, signing) }),
        ...headerWith(secretHeader, valueOfKind(current, kind)),
      };
  }
}
