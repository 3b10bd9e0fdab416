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

export const userSchema = {
  type: "object",
  required: ["id", "created_at", "accounts_number"],
  properties: {
    id: uuid,
    metadata,
    created_at: timestamp,
    accounts_number: { type: "integer", minimum: 0 },
  },
} as const;

export const usersSchema = listSchema(userSchema);

export const accountSchema = {
  type: "object",
  required: ["id", "user_id", "datasource_id", "connected", "created_at", "updated_at"],
  properties: {
    id: uuid,
    user_id: uuid,
    datasource_id: uuid,
    connected: { type: "boolean" },
    created_at: timestamp,
    updated_at: timestamp,
    endpoints: { type: "array", items: { enum: endpointNames } },
  },
} as const;

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

export const metadataBodySchema = {
  type: "object",
  additionalProperties: false,
  properties: { metadata },
} as const;

export const sessionSchema = objectSchema({ session: uuid, link: { type: "string" } });

/** A list of the newer interface, with its size and without pages. */
export function sizedListSchema(item: object) {
  return objectSchema({ data: { type: "array", items: item }, size: { type: "integer", minimum: 0 } });
}

export const accountsSchema = listSchema(accountSchema);

export const dataSetSchema = {
  type: "object",
  required: ["account_id", "endpoint", "revision", "updated_at", "data"],
  properties: {
    account_id: uuid,
    endpoint: { enum: endpointNames },
    revision: { type: "integer", minimum: 1, description: "Counts the changes of this data" },
    updated_at: timestamp,
    data: { type: "array", items: { type: "object", additionalProperties: true } },
    next: { ...cursorSchema, description: "On a page only: the next page's cursor, or null" },
  },
} as const;

export const webhookBodySchema = {
  type: "object",
  required: ["url", "method", "headers"],
  additionalProperties: false,
  properties: {
    url: { type: "string", minLength: 1, maxLength: 2048 },
    method: { enum: ["POST", "PUT"] },
    headers: { type: "object", maxProperties: 50, additionalProperties: { type: "string", maxLength: 8192 } },
    secret: { type: "string", minLength: 1, maxLength: 1024, description: "Signs bodies: X-Signature" },
  },
} as const;

/** Webhook of the newer interface; fields that are not sent are deleted. */
export const newerWebhookBodySchema = {
  ...webhookBodySchema,
  required: ["url", "method"],
  properties: {
    ...webhookBodySchema.properties,
    enabled: { type: "boolean", default: false },
    platform_ids: { type: "array", items: { type: "string", maxLength: 200 } },
  },
} as const;

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

export const fetchBodySchema = {
  type: "object",
  required: ["endpoints"],
  additionalProperties: false,
  properties: {
    endpoints: { type: "array", minItems: 1, uniqueItems: true, items: { enum: endpointNames } },
  },
} as const;

export const requestIdSchema = objectSchema({ request_id: uuid });

export function objectSchema(properties: Readonly<Record<string, object>>) {
  return { type: "object", required: Object.keys(properties), properties };
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
