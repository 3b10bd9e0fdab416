import type { FastifySchema } from "fastify";
import { endpointNames } from "../endpoint-names.ts";
import { cursorSchema } from "./paging.ts";

/** JSON Schemas of the routes: they validate requests, serialize answers and describe the API. */
const uuid = { type: "string", format: "uuid" } as const;
const timestamp = {
  type: "string",
  pattern: "^\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}(\\.\\d+)? UTC$",
  description: "Date and time in UTC, written as <date> <time> UTC",
} as const;

export const errorSchema = objectSchema({ error: { type: "string" }, message: { type: "string" } });

export const tokenSchema = objectSchema({ token: { type: "string", description: "A new JWT" } });

export const metadata = { type: "object", additionalProperties: true } as const;

export const userSchema = objectSchema(
  { id: uuid, created_at: timestamp, accounts_number: { type: "integer", minimum: 0 } },
  { metadata },
);

export const usersSchema = listSchema(userSchema);

export const accountSchema = objectSchema(
  {
    id: uuid,
    user_id: uuid,
    datasource_id: uuid,
    connected: { type: "boolean" },
    created_at: timestamp,
    updated_at: timestamp,
  },
  { endpoints: { type: "array", items: { enum: endpointNames } } },
);

const nanoseconds = {
  type: "string",
  format: "date-time",
  description: "RFC 3339, with nanoseconds",
} as const;

export const newerUserSchema = objectSchema({
  id: uuid,
  metadata,
  link: { type: "string", description: "Opens the connection flow: a credential" },
  session: uuid,
  session_expired: { type: "boolean" },
  session_expires_at: nanoseconds,
  created_at: nanoseconds,
  accounts_number: { type: "integer", minimum: 0 },
});

export const newerAccountSchema = objectSchema({
  id: uuid,
  user_id: uuid,
  datasource_id: uuid,
  name: { type: "string" },
  type: { type: "string" },
  connected: { type: "boolean" },
  reconnecting: { type: "boolean" },
  created_at: nanoseconds,
  updated_at: nanoseconds,
});

export const metadataBodySchema = bodySchema([], { metadata });

export const sessionSchema = objectSchema({ session: uuid, link: { type: "string" } });

/** A list of the newer interface, with its size and without pages. */
export function sizedListSchema(item: object) {
  return objectSchema({ data: { type: "array", items: item }, size: { type: "integer", minimum: 0 } });
}

export const accountsSchema = listSchema(accountSchema);

export const dataSetSchema = objectSchema(
  {
    account_id: uuid,
    endpoint: { enum: endpointNames },
    revision: { type: "integer", minimum: 1, description: "Counts the changes of this data" },
    updated_at: timestamp,
    data: { type: "array", items: { type: "object", additionalProperties: true } },
  },
  { next: { ...cursorSchema, description: "On a page only: the next page's cursor, or null" } },
);

const webhook = {
  url: { type: "string", minLength: 1, maxLength: 2048 },
  method: { enum: ["POST", "PUT"] },
  headers: { type: "object", maxProperties: 50, additionalProperties: { type: "string", maxLength: 8192 } },
  secret: { type: "string", minLength: 1, maxLength: 1024, description: "Signs bodies: X-Signature" },
} as const;

export const webhookBodySchema = bodySchema(["url", "method", "headers"], webhook);

/** Webhook of the newer interface; fields that are not sent are deleted. */
export const newerWebhookBodySchema = bodySchema(["url", "method"], {
  ...webhook,
  enabled: { type: "boolean", default: false },
  platform_ids: { type: "array", items: { type: "string", maxLength: 200 } },
});

const shownWebhook = {
  url: { type: "string" },
  method: { type: "string" },
  header_names: { type: "array", items: { type: "string" }, description: "Values are secrets: not shown" },
  signed: { type: "boolean", description: "Whether a secret signs bodies" },
} as const;

export const newerWebhookSchema = objectSchema({
  type: { type: "string" },
  ...shownWebhook,
  enabled: { type: "boolean" },
});

export const emptySchema = { type: "object", properties: {} } as const;

export const webhookSchema = objectSchema({ kind: { type: "string" }, ...shownWebhook });

export const fetchBodySchema = bodySchema(["endpoints"], {
  endpoints: { type: "array", minItems: 1, uniqueItems: true, items: { enum: endpointNames } },
});

export const requestIdSchema = objectSchema({ request_id: uuid });

export function objectSchema(properties: Readonly<Record<string, object>>, optional: object = {}) {
  return { type: "object", required: Object.keys(properties), properties: { ...properties, ...optional } };
}

/** Schema of a request's body or query, which may have no other properties. */
export function bodySchema(required: readonly string[], properties: object) {
  return { type: "object", required, additionalProperties: false, properties } as const;
}

/** Accepts any text as an id in a path: an unknown one is 404, whatever its form. */
export function pathSchema(...names: readonly string[]) {
  return {
    type: "object",
    required: names,
    properties: Object.fromEntries(names.map((name) => [name, { type: "string", maxLength: 200 }])),
  } as const;
}

/** Schema of a route: input, answer, and the error that any route may return. */
export function describe(summary: string, answer: object, takes: FastifySchema = {}, status = 200) {
  return {
    schema: { summary, ...takes, response: { [status]: answer, "4xx": errorSchema, "5xx": errorSchema } },
  };
}

function listSchema(item: object) {
  return {
    anyOf: [
      { type: "array", items: item },
      objectSchema({ data: { type: "array", items: item }, next: cursorSchema }),
    ],
    description: "The whole list, or a page of it where a limit is given",
  } as const;
}
