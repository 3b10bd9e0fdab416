/** What a webhook tells about. */
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

export function createWebhookRegistry(): WebhookRegistry {
  const webhooks = new Map<WebhookKind, Webhook>();
  return {
    get: (kind) => webhooks.get(kind),
    put: (kind, webhook) => {
      webhooks.set(kind, webhook);
    },
  };
}
