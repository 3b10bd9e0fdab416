import { answerEncodings } from "../api/encodings.ts";
import { faultEffects } from "../api/faults.ts";
import { fetchBodySchema, metadata, objectSchema } from "../api/schemas.ts";
import { deliveryStatuses } from "../delivery/queue.ts";
import { shapedThings } from "../shapes.ts";
import { webhookKinds } from "../webhooks.ts";

/** JSON Schemas of the control API. */
const environment = { enum: ["sandbox", "production"], description: "Default: sandbox" } as const;
const text = { type: "string" } as const;
const ids = { type: "array", items: text } as const;
const isoTimestamp = { type: "string", format: "date-time" } as const;

const tenYearsInSeconds = 10 * 366 * 86_400;

function query(properties: object) {
  return { type: "object", additionalProperties: false, properties: { environment, ...properties } };
}

function body(required: readonly string[], properties: object) {
  return { required, ...query(properties) };
}

const accountAlert = {
  type: "boolean",
  description: "Whether an event announces an account's creation; default: the environment's choice",
} as const;

const drop = { type: "boolean", description: "Record the events of this and never send them" } as const;

const headers = { type: "object", additionalProperties: text } as const;

export const usersBody = body(["count"], {
  count: { type: "integer", minimum: 1, maximum: 10_000 },
  accountsPerUser: { type: "integer", minimum: 0, maximum: 20 },
  companyAccounts: { type: "integer", minimum: 0, maximum: 10_000 },
  pictures: { type: "integer", minimum: 0, maximum: 10_000, description: "Accounts with a large profile" },
  accountAlert,
  metadata: { ...metadata, description: "Of each user; default: a loan_id of its own" },
  drop,
});

export const metadataBody = body(["metadata"], { metadata, drop });

export const createdUsers = objectSchema({ users: ids, accounts: ids, companyAccounts: ids });

const event = {
  type: "object",
  required: ["kind"],
  additionalProperties: false,
  properties: {
    kind: { enum: webhookKinds },
    payload: { description: "Sent as JSON" },
    body: { ...text, description: "Sent as it is, in place of a payload" },
    bodyBase64: {
      type: "string",
      contentEncoding: "base64",
      pattern: "^[A-Za-z0-9+/]*={0,2}$",
      description: "Any bytes, in place of a payload",
    },
    times: { type: "integer", minimum: 1, maximum: 10_000 },
    headers,
    maxAttempts: { type: "integer", minimum: 1, maximum: 1_000_000 },
    delaySeconds: { type: "number", minimum: 0, maximum: tenYearsInSeconds },
    drop: { type: "boolean", description: "Record it and never send it" },
  },
} as const;

export const eventsBody = body(["events"], {
  events: { type: "array", minItems: 1, maxItems: 10_000, items: event },
  spacingSeconds: {
    type: "number",
    minimum: 0,
    maximum: 86_400,
    description: "Sends each this much after the one before; unset: side by side, in no order",
  },
});

export const deliveryIds = objectSchema({ deliveries: ids });

export const faultBody = body([], {
  path: { ...text, description: "A path's beginning, or a regular expression; unset: every path" },
  method: text,
  status: { type: "integer", minimum: 202, maximum: 599, description: "202, 204, 206, or 300 to 599" },
  effect: { enum: [...faultEffects, ...answerEncodings] },
  location: {
    ...text,
    pattern: "^[!-~]+$",
    description: "Where a redirect leads; unset: a path of the service",
  },
  times: { type: "integer", minimum: 1 },
  share: { type: "number", exclusiveMinimum: 0, maximum: 1 },
  retryAfterSeconds: { type: "number", minimum: 0, maximum: tenYearsInSeconds },
  forSeconds: { type: "number", exclusiveMinimum: 0, maximum: tenYearsInSeconds },
});

export const clockBody = body(["advanceSeconds"], {
  advanceSeconds: { type: "number", minimum: 0, maximum: tenYearsInSeconds },
});

export const clockAnswer = objectSchema({ now: isoTimestamp });

export const tokenBody = body(["action"], {
  action: { enum: ["expire", "revoke", "issue"] },
  remainingSeconds: {
    type: "integer",
    minimum: 1,
    maximum: tenYearsInSeconds,
    description: "Of a token that is issued",
  },
});

export const tokenAnswer = {
  type: "object",
  properties: { token: text, ended: { type: "integer", description: "How many tokens were ended" } },
} as const;

export const shapeBody = body(["of"], {
  of: { enum: shapedThings },
  template: { description: "Any JSON with texts like {{account_id}}; unset: the usual shape" },
});

export const analyticsAnswer = objectSchema({
  events: {
    type: "array",
    items: {
      type: "object",
      required: ["at", "step"],
      properties: { at: isoTimestamp, step: text, datasourceId: text },
    },
  },
});

export const newAccountBody = body(["userId"], {
  userId: text,
  company: { type: "boolean", description: "A company account; default: false" },
  connected: {
    type: "boolean",
    description: "Whether the datasource accepts the credentials; default: true",
  },
  accountAlert,
});

export const createdAccount = objectSchema({ account: { ...text, description: "Its id" } });

export const accountBody = body(["action"], {
  action: { enum: ["disconnect", "reconnect", "delete"] },
  drop,
});

export const fetchesBody = body(["endpoints"], fetchBodySchema.properties);

export const nothing = { type: "object", additionalProperties: false, properties: {} } as const;

export const environmentQuery = query({});

const page = {
  after: { type: "string", pattern: "^\\d{1,15}$" },
  limit: { type: "string", pattern: "^[1-9]\\d{0,5}$", description: "Default 1000" },
} as const;

export const callsQuery = query(page);

const call = objectSchema({
  method: text,
  path: text,
  status: { type: "integer", description: "0: no answer was given" },
  at: isoTimestamp,
  authorized: { type: "boolean" },
  answer: { type: "string", description: "The body's beginning; empty where it holds a token" },
});

export const callsAnswer = objectSchema({
  calls: { type: "array", items: call },
  next: { type: ["string", "null"] },
});

export const deliveriesQuery = query({
  ...page,
  status: { enum: deliveryStatuses },
  kind: { enum: webhookKinds },
});

const delivery = {
  type: "object",
  required: ["id", "kind", "status", "attempts", "createdAt"],
  properties: {
    id: text,
    kind: { enum: webhookKinds },
    status: { enum: deliveryStatuses },
    attempts: { type: "integer" },
    createdAt: isoTimestamp,
    nextAt: isoTimestamp,
    finishedAt: isoTimestamp,
    lastStatus: { type: "integer" },
    lastError: text,
  },
} as const;

export const deliveriesAnswer = objectSchema({
  deliveries: { type: "array", items: delivery },
  next: { type: ["string", "null"], description: "The value of `after` for the next page" },
});
