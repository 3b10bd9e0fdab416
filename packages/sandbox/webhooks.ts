import { z } from "zod";
import type { Collection, Store } from "./store.ts";

/** Kinds of webhooks in every version of the interface. */
export const webhookKinds = ["users", "accounts", "endpoints", "company-accounts"] as const;
/** Kinds that interface 0.5 adds. */
export const newerWebhookKinds = ["multi-endpoints", "company-endpoints", "connect-events"] as const;
export const allWebhookKinds = [...webhookKinds, ...newerWebhookKinds] as const;
export type WebhookKind = (typeof allWebhookKinds)[number];

const storedWebhook = z
  .object({
    url: z.string(),
    method: z.enum(["POST", "PUT"]),
    /** Sent with each call, for identification or security. */
    headers: z.record(z.string(), z.string()),
    /** Key of `X-Signature`: HMAC-SHA512 over the raw body, in base64. */
    secret: z.string().exactOptional(),
    /** A disabled webhook receives no events. */
    enabled: z.boolean().default(false),
    /** For `multi-endpoints`: datasources that it is limited to. */
    platformIds: z.array(z.string()).readonly().exactOptional(),
  })
  .readonly();
export type Webhook = z.output<typeof storedWebhook>;

/** Webhooks by kind; a new registration replaces the old one as a whole. */
export type WebhookRegistry = Collection<Webhook>;

export function createWebhookRegistry(store: Store): WebhookRegistry {
  return store.collection("webhooks", storedWebhook);
}
