// Written by `npm run docs` from domain/message/message-schemas.ts: change that.
import type { MessageType } from "./contract.ts";
import type { ObjectSchema } from "./schema.ts";

const text = { type: "string", minLength: 1 } as const;
const flag = { type: "boolean" } as const;

const userEventData = {
  type: "object",
  properties: {
    userId: text,
    deleted: flag,
    unconfirmed: flag,
    outcome: { type: "string", enum: ["applied", "agreed", "stale", "unconfirmed"] },
    reconciled: { type: "boolean", const: true },
  },
  required: ["userId", "deleted", "unconfirmed", "outcome"],
} as const;

const accountEventData = {
  type: "object",
  properties: {
    accountId: text,
    deleted: flag,
    unconfirmed: flag,
    outcome: { type: "string", enum: ["applied", "agreed", "stale", "unconfirmed"] },
    connected: flag,
    userId: text,
    datasourceId: text,
    reconciled: { type: "boolean", const: true },
  },
  required: ["accountId", "deleted", "unconfirmed", "outcome"],
} as const;

const endpointUpdatedData = {
  type: "object",
  properties: {
    endpoint: text,
    outcome: { type: "string", enum: ["applied", "agreed", "stale", "unconfirmed"] },
    accountId: text,
    companyAccountId: text,
    userId: text,
    dataAvailable: flag,
    dateStart: text,
    dateEnd: text,
  },
  required: ["endpoint", "outcome"],
  oneOf: [{ required: ["accountId"] }, { required: ["companyAccountId"] }],
} as const;

const companyAccountEventData = {
  type: "object",
  properties: {
    companyAccountId: text,
    deleted: flag,
    unconfirmed: flag,
    outcome: { type: "string", enum: ["applied", "agreed", "stale", "unconfirmed"] },
    connected: flag,
    userId: text,
    datasourceId: text,
    reconciled: { type: "boolean", const: true },
  },
  required: ["companyAccountId", "deleted", "unconfirmed", "outcome"],
} as const;

const userConfirmedData = {
  type: "object",
  properties: {
    userId: text,
    deleted: flag,
    unconfirmed: flag,
  },
  required: ["userId", "deleted", "unconfirmed"],
} as const;

const accountConfirmedData = {
  type: "object",
  properties: {
    accountId: text,
    deleted: flag,
    unconfirmed: flag,
    connected: flag,
    userId: text,
    datasourceId: text,
  },
  required: ["accountId", "deleted", "unconfirmed"],
} as const;

const companyAccountConfirmedData = {
  type: "object",
  properties: {
    companyAccountId: text,
    deleted: flag,
    unconfirmed: flag,
    connected: flag,
    userId: text,
    datasourceId: text,
  },
  required: ["companyAccountId", "deleted", "unconfirmed"],
} as const;

const userErasedData = {
  type: "object",
  properties: {
    userId: text,
  },
  required: ["userId"],
} as const;

const accountErasedData = {
  type: "object",
  properties: {
    accountId: text,
  },
  required: ["accountId"],
} as const;

const companyAccountErasedData = {
  type: "object",
  properties: {
    companyAccountId: text,
  },
  required: ["companyAccountId"],
} as const;

const dataUpdatedData = {
  type: "object",
  properties: {
    endpoint: text,
    accountId: text,
    companyAccountId: text,
    dateStart: text,
    dateEnd: text,
    document: {
      type: "object",
      properties: {
        href: text,
        sha256: { type: "string", pattern: "^[0-9a-f]{64}$" },
        size: { type: "integer", minimum: 0 },
        contentType: { type: "string", const: "application/json" },
        version: { type: "string", pattern: "^[0-9]+$" },
        observedAt: { type: "string", format: "date-time" },
        content: {},
      },
      required: ["href", "sha256", "size", "contentType", "version", "observedAt"],
    },
  },
  required: ["endpoint"],
  oneOf: [{ required: ["accountId"] }, { required: ["companyAccountId"] }],
} as const;

const subscriberTestData = {
  type: "object",
  properties: {
    test: { type: "boolean", const: true },
  },
  required: ["test"],
} as const;

export const attributes = {
  type: "object",
  properties: {
    specversion: { type: "string", const: "1.0" },
    id: text,
    source: { type: "string", minLength: 1, pattern: "^/income-events/." },
    subject: text,
    time: { type: "string", format: "date-time" },
    datacontenttype: { type: "string", const: "application/json" },
    sequence: { type: "string", pattern: "^[0-9]{20}$" },
    replayid: text,
    correlationid: text,
  },
  required: ["specversion", "id", "source", "subject", "time", "datacontenttype", "sequence"],
} as const;

type Check = {
  /** Which messages replace each other: the newest counts. */
  readonly newestOf: "subject" | "subject and type";
  readonly data: ObjectSchema;
};

export const checks: Readonly<Record<MessageType, Check>> = {
  "user.created": { newestOf: "subject", data: userEventData },
  "user.updated": { newestOf: "subject", data: userEventData },
  "user.deleted": { newestOf: "subject", data: userEventData },
  "account.created": { newestOf: "subject", data: accountEventData },
  "account.updated": { newestOf: "subject", data: accountEventData },
  "account.connected": { newestOf: "subject", data: accountEventData },
  "account.disconnected": { newestOf: "subject", data: accountEventData },
  "account.deleted": { newestOf: "subject", data: accountEventData },
  "endpoint.updated": { newestOf: "subject and type", data: endpointUpdatedData },
  "company-account.created": { newestOf: "subject", data: companyAccountEventData },
  "company-account.updated": { newestOf: "subject", data: companyAccountEventData },
  "company-account.connected": { newestOf: "subject", data: companyAccountEventData },
  "company-account.disconnected": { newestOf: "subject", data: companyAccountEventData },
  "company-account.deleted": { newestOf: "subject", data: companyAccountEventData },
  "user.confirmed": { newestOf: "subject", data: userConfirmedData },
  "account.confirmed": { newestOf: "subject", data: accountConfirmedData },
  "company-account.confirmed": { newestOf: "subject", data: companyAccountConfirmedData },
  "user.erased": { newestOf: "subject", data: userErasedData },
  "account.erased": { newestOf: "subject", data: accountErasedData },
  "company-account.erased": { newestOf: "subject", data: companyAccountErasedData },
  "data.updated": { newestOf: "subject and type", data: dataUpdatedData },
  "subscriber.test": { newestOf: "subject", data: subscriberTestData },
};
