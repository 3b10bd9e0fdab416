import { fieldsOf, textOf } from "./parse.ts";
import type { Collection, Store } from "./store.ts";

/** Kinds of webhooks in every version of the interface. */
export const webhookKinds = ["users", "accounts", "endpoints", "company-accounts"] as const;
/** Kinds that interface 0.5 adds. */
export const newerWebhookKinds = ["multi-endpoints", "company-endpoints", "connect-events"] as const;
const allWebhookKinds = [...webhookKinds, ...newerWebhookKinds] as const;
export type WebhookKind = (typeof allWebhookKinds)[number];

export type Webhook = {
  readonly url: string;
  readonly method: "POST" | "PUT";
  /** Sent with each call, for identification or security. */
  readonly headers: Readonly<Record<string, string>>;
  /** Key of `X-Signature`: HMAC-SHA512 over the raw body, in base64. */
  readonly secret?: string;
  /** A disabled webhook receives no events. */
  readonly enabled: boolean;
  /** For `multi-endpoints`: datasources that it is limited to. */
  readonly platformIds?: readonly string[];
};

/** Webhooks by kind; a new registration replaces the old one as a whole. */
export type WebhookRegistry = Collection<Webhook>;

export function createWebhookRegistry(store: Store): WebhookRegistry {
  return store.collection("webhooks", parseWebhook);
}

export function isWebhookKind(value: unknown): value is WebhookKind {
  return allWebhookKinds.some((kind) => kind === value);
}

function parseWebhook(value: unknown): Webhook {
  const fields = fieldsOf(value);
  const headers = Object.entries(fieldsOf(fields.headers)).map(([name, text]) => [name, String(text)]);
  return {
    url: textOf(fields, "url"),
    method: fields.method === "PUT" ? "PUT" : "POST",
    headers: Object.fromEntries(headers),
    enabled: fields.enabled !== false,
    ...(typeof fields.secret === "string" ? { secret: fields.secret } : {}),
    ...(Array.isArray(fields.platformIds) ? { platformIds: fields.platformIds.map(String) } : {}),
  };
}
