import { validateHeaderName, validateHeaderValue } from "node:http";
import type { FastifyInstance } from "fastify";
import type { Webhook, WebhookKind, WebhookRegistry } from "../webhooks.ts";
import { ApiError } from "./errors.ts";
import { answers, webhookBodySchema, webhookSchema } from "./schemas.ts";

/** The path on which each kind's webhook is defined, under the version of its group. */
export const webhookPaths: Readonly<Record<WebhookKind, string>> = {
  users: "/api/v0.3/webhooks/users",
  accounts: "/api/v0.3/webhooks/accounts",
  endpoints: "/api/v0.3/webhooks/endpoints",
  "company-accounts": "/api/company/v0.5/webhooks/accounts",
};

/** Headers that belong to the connection, not to the operator: setting them would break the call. */
const reservedHeaders = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
]);

/** Defines the webhooks: a PUT replaces the one of its kind. */
export function webhookRoutes(app: FastifyInstance, webhooks: WebhookRegistry): void {
  for (const kind of ["users", "accounts", "endpoints", "company-accounts"] as const) {
    app.put<{ Body: Webhook }>(
      webhookPaths[kind],
      {
        schema: {
          summary: `Define the webhook for ${kind}`,
          body: webhookBodySchema,
          response: answers(200, webhookSchema),
        },
      },
      async ({ body }) => {
        checkUrl(body.url);
        checkHeaders(body.headers);
        webhooks.put(kind, body);
        return { kind, url: body.url, method: body.method, header_names: Object.keys(body.headers) };
      },
    );
  }
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

function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (reservedHeaders.has(name.toLowerCase()))
      throw invalid(`headers.${name}: is set by the service itself`);
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch {
      throw invalid(`headers: ${JSON.stringify(name)} is no valid header name, or its value has line breaks`);
    }
  }
}

function invalid(message: string): ApiError {
  return new ApiError(400, "invalid_request", message);
}
