/** JSON Schemas of the control API: for each route what it takes and what it answers. */

import { answerEncodings } from "../api/encodings.ts";
import { faultEffects } from "../api/faults.ts";
import {
  metadata as anyMetadata,
  bodySchema,
  describe,
  fetchBodySchema,
  objectSchema,
  pathSchema,
} from "../api/schemas.ts";
import { deliveryStatuses } from "../delivery/queue.ts";
import { shapedThings } from "../shapes.ts";
import { webhookKinds } from "../webhooks.ts";

const environment = { enum: ["sandbox", "production"], description: "Default: sandbox" } as const;
const text = { type: "string" } as const;
const ids = { type: "array", items: text } as const;
const isoTimestamp = { type: "string", format: "date-time" } as const;
const nothing = bodySchema([], {});

const tenYearsInSeconds = 10 * 366 * 86_400;

const body = (required: readonly string[], properties: object) =>
  bodySchema(required, { environment, ...properties });
const query = (properties: object = {}) => body([], properties);

const accountAlert = {
  type: "boolean",
  description: "Whether an event announces an account's creation; default: the environment's choice",
} as const;

const drop = { type: "boolean", description: "Record the events of this and never send them" } as const;

export const users = describe(
  "Create users and connect accounts",
  objectSchema({ users: ids, accounts: ids, companyAccounts: ids }),
  {
    body: body(["count"], {
      count: { type: "integer", minimum: 1, maximum: 10_000 },
      accountsPerUser: { type: "integer", minimum: 0, maximum: 20 },
      companyAccounts: { type: "integer", minimum: 0, maximum: 10_000 },
      pictures: {
        type: "integer",
        minimum: 0,
        maximum: 10_000,
        description: "Accounts with a large profile",
      },
      accountAlert,
      metadata: { ...anyMetadata, description: "Of each user; default: a loan_id of its own" },
      drop,
    }),
  },
);

export const metadata = describe("Replace a user's metadata", nothing, {
  body: body(["metadata"], { metadata: anyMetadata, drop }),
  params: pathSchema("user_id"),
});

const event = bodySchema(["kind"], {
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
  headers: { type: "object", additionalProperties: text },
  maxAttempts: { type: "integer", minimum: 1, maximum: 1_000_000 },
  delaySeconds: { type: "number", minimum: 0, maximum: tenYearsInSeconds },
  drop: { type: "boolean", description: "Record it and never send it" },
});

export const events = describe("Fire events", objectSchema({ deliveries: ids }), {
  body: body(["events"], {
    events: { type: "array", minItems: 1, maxItems: 10_000, items: event },
    spacingSeconds: {
      type: "number",
      minimum: 0,
      maximum: 86_400,
      description: "Sends each this much after the one before; unset: side by side, in no order",
    },
  }),
});

export const faults = describe("Let calls fail", nothing, {
  body: body([], {
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
  }),
});

export const clearFaults = describe("End every fault", nothing, { querystring: query() });

export const clock = describe("Move the clock forward", objectSchema({ now: isoTimestamp }), {
  body: body(["advanceSeconds"], {
    advanceSeconds: { type: "number", minimum: 0, maximum: tenYearsInSeconds },
  }),
});

export const token = describe(
  "End every token, or issue one",
  {
    type: "object",
    properties: { token: text, ended: { type: "integer", description: "How many tokens were ended" } },
  },
  {
    body: body(["action"], {
      action: { enum: ["expire", "revoke", "issue"] },
      remainingSeconds: {
        type: "integer",
        minimum: 1,
        maximum: tenYearsInSeconds,
        description: "Of a token that is issued",
      },
    }),
  },
);

export const shape = describe("Give payloads another shape", nothing, {
  body: body(["of"], {
    of: { enum: shapedThings },
    template: { description: "Any JSON with texts like {{account_id}}; unset: the usual shape" },
  }),
});

export const analytics = describe(
  "How the connection flow was used: of production only",
  objectSchema({
    events: {
      type: "array",
      items: objectSchema({ at: isoTimestamp, step: text }, { datasourceId: text }),
    },
  }),
  { querystring: query() },
);

export const newAccount = describe(
  "Create an account of a user",
  objectSchema({ account: { ...text, description: "Its id" } }),
  {
    body: body(["userId"], {
      userId: text,
      company: { type: "boolean", description: "A company account; default: false" },
      connected: {
        type: "boolean",
        description: "Whether the datasource accepts the credentials; default: true",
      },
      accountAlert,
    }),
  },
);

export const account = describe("Change an account", nothing, {
  body: body(["action"], { action: { enum: ["disconnect", "reconnect", "delete"] }, drop }),
  params: pathSchema("account_id"),
});

export const fetches = describe("Fetch an account's data", nothing, {
  body: body(["endpoints"], fetchBodySchema.properties),
  params: pathSchema("account_id"),
});

const page = {
  after: { type: "string", pattern: "^\\d{1,15}$" },
  limit: { type: "string", pattern: "^[1-9]\\d{0,5}$", description: "Default 1000" },
} as const;

const call = objectSchema({
  method: text,
  path: text,
  status: { type: "integer", description: "0: no answer was given" },
  at: isoTimestamp,
  authorized: { type: "boolean" },
  answer: { type: "string", description: "The body's beginning; empty where it holds a token" },
});

export const calls = describe(
  "Every call received, the oldest first",
  objectSchema({ calls: { type: "array", items: call }, next: { type: ["string", "null"] } }),
  { querystring: query(page) },
);

const delivery = objectSchema(
  {
    id: text,
    kind: { enum: webhookKinds },
    status: { enum: deliveryStatuses },
    attempts: { type: "integer" },
    createdAt: isoTimestamp,
  },
  { nextAt: isoTimestamp, finishedAt: isoTimestamp, lastStatus: { type: "integer" }, lastError: text },
);

export const deliveries = describe(
  "Every delivery, the oldest first",
  objectSchema({
    deliveries: { type: "array", items: delivery },
    next: { type: ["string", "null"], description: "The value of `after` for the next page" },
  }),
  { querystring: query({ ...page, status: { enum: deliveryStatuses }, kind: { enum: webhookKinds } }) },
);

export const resend = describe("Deliver an event once more", nothing, {
  querystring: query(),
  params: pathSchema("delivery_id"),
});
