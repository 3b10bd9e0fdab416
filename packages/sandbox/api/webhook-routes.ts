import type { FastifyInstance } from "fastify";
import { type Webhook, type WebhookKind, type WebhookRegistry, webhookKinds } from "../webhooks.ts";
import { ApiError, asked, notFound } from "./errors.ts";
import { checkHeaders } from "./header-rules.ts";
import { describe, webhookBodySchema, webhookSchema } from "./schemas.ts";

/** Path of each kind's webhook, under the version of its group. */
export const webhookPaths: Readonly<Record<(typeof webhookKinds)[number], string>> = {
  users: "/api/v0.3/webhooks/users",
  accounts: "/api/v0.3/webhooks/accounts",
  endpoints: "/api/v0.3/webhooks/endpoints",
  "company-accounts": "/api/company/v0.5/webhooks/accounts",
};

/**
 * Routes for webhooks: a PUT replaces the one of its kind. Unlike in the specification, they can also be
 * read.
 */
export function webhookRoutes(app: FastifyInstance, webhooks: WebhookRegistry): void {
  for (const kind of webhookKinds) {
    app.put<{ Body: Omit<Webhook, "enabled"> }>(
      webhookPaths[kind],
      describe(`Define the webhook for ${kind}`, webhookSchema, { body: webhookBodySchema }),
      async ({ body }) => {
        const webhook = { ...body, enabled: true };
        checkWebhook(webhook);
        webhooks.set(kind, webhook);
        return shown(kind, webhook);
      },
    );
    app.get(webhookPaths[kind], describe(`Read the webhook for ${kind}`, webhookSchema), async () => {
      const webhook = webhooks.get(kind);
      if (webhook === undefined) throw notFound(`no webhook for ${kind} is defined`);
      return shown(kind, webhook);
    });
  }
}

function shown(kind: WebhookKind, { url, method, headers, secret }: Webhook) {
  return { kind, url, method, header_names: Object.keys(headers), signed: secret !== undefined };
}

/** @throws 400 for a URL or header that cannot be used for deliveries */
export function checkWebhook({ url, headers }: Webhook): void {
  checkUrl(url);
  asked(() => checkHeaders(headers));
}

function checkUrl(text: string): void {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw invalid("url: expected an address that starts with http:// or https://");
  }
  if (url.username !== "" || url.password !== "") {
    throw invalid("url: expected an address without a user name; put credentials into headers");
  }
}

function invalid(message: string): ApiError {
  return new ApiError(400, "invalid_request", message);
}
