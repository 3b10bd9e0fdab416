import { createHmac } from "node:crypto";
import { valueOfKind, type WebhookSecret } from "../../../domain/core/webhook-secret.ts";
import type { WebhookKind } from "../../../domain/event/events.ts";
import { maxWebhooks } from "./plan.ts";

export type Method = "POST" | "PUT" | "GET" | "DELETE";
/** What a webhook carries; `none` as a stranger would send it. */
export type Authentication = "right" | "wrong" | "none";

/** The status of the answer, or why there was none. */
export type Answer = number | string;

export type WebhookSender = {
  readonly send: (
    kind: WebhookKind,
    method: Method,
    authentication: Authentication,
    body?: string,
  ) => Promise<Answer>;
  /** How many were sent, and how many at once at most. */
  readonly counts: () => { readonly sent: number; readonly atOnce: number };
};

export type SenderTarget = {
  readonly webhooksUrl: string;
  readonly secretHeader: string;
  readonly secret: WebhookSecret;
};

/** Longer than API Gateway waits for any answer. */
const answerTimeoutInMs = 35_000;

/** Sends webhooks as the provider would, never over the run's limits. */
export function webhookSender(target: SenderTarget, maxAtOnce: number): WebhookSender {
  const limit = limiter(maxAtOnce);
  let sent = 0;
  const request = async (
    kind: WebhookKind,
    method: Method,
    authentication: Authentication,
    body?: string,
  ) => {
    if (sent === maxWebhooks) throw new Error(`a run sends ${maxWebhooks} webhooks at most`);
    sent += 1;
    try {
      const response = await fetch(`${target.webhooksUrl}/${kind}`, {
        method,
        headers: headersOf(target, kind, authentication, body),
        ...(body !== undefined && { body }),
        redirect: "manual",
        signal: AbortSignal.timeout(answerTimeoutInMs),
      });
      await response.body?.cancel();
      return response.status;
    } catch (error) {
      return `no answer (${reasonOf(error)})`;
    }
  };
  return {
    send: (...webhook) => limit.run(() => request(...webhook)),
    counts: () => ({ sent, atOnce: limit.most() }),
  };
}

function headersOf(
  { secretHeader, secret }: SenderTarget,
  kind: WebhookKind,
  authentication: Authentication,
  body = "",
): Record<string, string> {
  const headers = { "content-type": "application/json" };
  switch (authentication) {
    case "none":
      return headers;
    case "wrong":
      return { ...headers, [secretHeader]: "smoke-test-of-a-wrong-secret" };
    case "right": {
      const { current, signing } = secret;
      const signature =
        signing === undefined
          ? {}
          : { "x-signature": createHmac("sha512", signing).update(body).digest("base64") };
      return { ...headers, ...signature, [secretHeader]: valueOfKind(current, kind) };
    }
  }
}

/** Lets so much work go on at once; the rest waits for its turn. */
function limiter(maxAtOnce: number) {
  const waiting: (() => void)[] = [];
  let underWay = 0;
  let most = 0;
  const begin = async () => {
    if (underWay >= maxAtOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else underWay += 1;
    most = Math.max(most, underWay);
  };
  const end = () => {
    const next = waiting.shift();
    if (next === undefined) underWay -= 1;
    else next();
  };
  return {
    most: () => most,
    run: async <T>(work: () => Promise<T>): Promise<T> => {
      await begin();
      try {
        return await work();
      } finally {
        end();
      }
    },
  };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error && cause.message !== "" ? cause.message : error.message;
}
