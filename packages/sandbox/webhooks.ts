import { fieldsOf, textOf } from "./parse.ts";
import type { Collection, Store } from "./store.ts";

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

/** By kind: one that was registered before is replaced as a whole. */
export type WebhookRegistry = Collection<Webhook>;

export function createWebhookRegistry(store: Store): WebhookRegistry {
  return store.collection("webhooks", parseWebhook);
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
