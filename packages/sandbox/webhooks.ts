import { fieldsOf, textOf } from "./parse.ts";
import type { Store } from "./store.ts";

/** What a webhook announces about. */
export const webhookKinds = ["users", "accounts", "endpoints", "company-accounts"] as const;
export type WebhookKind = (typeof webhookKinds)[number];

/** The operator's address for one kind of events. */
export type Webhook = {
  readonly url: string;
  readonly method: "POST" | "PUT";
  /** Sent with each call, for identification or security. */
  readonly headers: Readonly<Record<string, string>>;
  /** Signs each body: `X-Signature`, HMAC-SHA512 over the raw body, base64. */
  readonly secret?: string;
};

export type WebhookRegistry = {
  get(kind: WebhookKind): Webhook | undefined;
  /** A webhook that was registered before is replaced as a whole. */
  put(kind: WebhookKind, webhook: Webhook): void;
};

export function createWebhookRegistry(store: Store): WebhookRegistry {
  const kept = store.collection("webhooks");
  const webhooks = new Map(kept.load().map(({ id, value }) => [id, parseWebhook(value)]));
  return {
    get: (kind) => webhooks.get(kind),
    put: (kind, webhook) => {
      webhooks.set(kind, webhook);
      kept.put(kind, webhook);
    },
  };
}

export function isWebhookKind(value: unknown): value is WebhookKind {
  return webhookKinds.some((kind) => kind === value);
}

function parseWebhook(value: unknown): Webhook {
  const fields = fieldsOf(value);
  const headers = Object.entries(fieldsOf(fields.headers)).map(([name, text]) => [name, String(text)]);
  return {
    url: textOf(fields, "url"),
    method: fields.method === "PUT" ? "PUT" : "POST",
    headers: Object.fromEntries(headers),
    ...(typeof fields.secret === "string" ? { secret: fields.secret } : {}),
  };
}
