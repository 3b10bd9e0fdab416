import type { MessageType } from "./contract.ts";
import type { ObjectSchema } from "./schema.ts";
import { list, object } from "./shape.ts";

const text = { type: "string", minLength: 1 } as const;
const flag = { type: "boolean" } as const;
const time = { type: "string", format: "date-time" } as const;
const json = { type: "string", const: "application/json" } as const;
const like = (pattern: string) => ({ type: "string", pattern }) as const;

const outcome = { type: "string", enum: ["applied", "agreed", "stale", "unconfirmed"] } as const;
const state = { deleted: flag, unconfirmed: flag };
const ofItsUser = {
  attributes: { type: "object", properties: {}, required: [], additionalProperties: { type: "string" } },
  attributesSequence: like("^[0-9]{20}$"),
} as const;
const known = { connected: flag, since: time, reason: text, userId: text, datasourceId: text, ...ofItsUser };
const always = { type: "boolean", const: true } as const;
const dates = { dateStart: text, dateEnd: text };
const ofEitherAccount = {
  oneOf: [{ required: ["accountId"] }, { required: ["companyAccountId"] }],
} as const;

const user = { userId: text };
const account = { accountId: text };
const company = { companyAccountId: text };

const reference = object(
  {
    href: text,
    sha256: like("^[0-9a-f]{64}$"),
    size: { type: "integer", minimum: 0 },
    contentType: text,
    version: like("^[0-9]+$"),
    observedAt: time,
  },
  { range: object({ start: text, end: text }, {}), content: {} },
);
const endpointUpdated = {
  ...object(
    { endpoint: text, outcome },
    { ...account, ...company, ...user, ...ofItsUser, dataAvailable: flag, ...dates },
  ),
  ...ofEitherAccount,
};
const dataUpdated = {
  ...object(
    { endpoint: text },
    { ...account, ...company, ...user, ...ofItsUser, ...dates, document: reference },
  ),
  ...ofEitherAccount,
};

const decidedBy = list(
  object({ endpoint: text, href: text, version: like("^[0-9]+$"), sha256: like("^[0-9a-f]{64}$") }, {}),
);
const reason = {
  type: "string",
  enum: ["notAnnounced", "none", "tooFewDays", "failing", "deadLetter"],
} as const;
const settled = object(
  { ...account, status: { type: "string", enum: ["ready", "incomplete"] }, connectedSince: time },
  {},
);
const readiness = { ...account, connectedSince: time, documents: decidedBy };

type Check = {
  /** Whether messages replace each other by subject, or by subject and type. */
  readonly newestOf: "subject" | "subject and type";
  readonly data: ObjectSchema;
};

const ofUser: Check = {
  newestOf: "subject",
  data: object({ ...user, ...state, outcome }, { reconciled: always, ...ofItsUser }),
};
const ofAccount: Check = {
  newestOf: "subject",
  data: object({ ...account, ...state, outcome }, { ...known, reconciled: always }),
};
const ofCompany: Check = {
  newestOf: "subject",
  data: object({ ...company, ...state, outcome }, { ...known, reconciled: always }),
};

export const attributes = object(
  {
    specversion: { type: "string", const: "1.0" },
    id: text,
    source: { ...text, pattern: "^/income-events/." },
    subject: text,
    time,
    datacontenttype: json,
    sequence: like("^[0-9]{20}$"),
  },
  { replayid: text, correlationid: text },
);

/** The schemas that the reader checks messages by: the pipeline's, without descriptions. */
export const checks: Readonly<Record<MessageType, Check>> = {
  "user.created": ofUser,
  "user.updated": ofUser,
  "user.deleted": ofUser,
  "account.created": ofAccount,
  "account.updated": ofAccount,
  "account.connected": ofAccount,
  "account.disconnected": ofAccount,
  "account.deleted": ofAccount,
  "account.restored": ofAccount,
  "endpoint.updated": { newestOf: "subject and type", data: endpointUpdated },
  "company-account.created": ofCompany,
  "company-account.updated": ofCompany,
  "company-account.connected": ofCompany,
  "company-account.disconnected": ofCompany,
  "company-account.deleted": ofCompany,
  "user.confirmed": { newestOf: "subject", data: object({ ...user, ...state }, ofItsUser) },
  "account.confirmed": { newestOf: "subject", data: object({ ...account, ...state }, known) },
  "company-account.confirmed": { newestOf: "subject", data: object({ ...company, ...state }, known) },
  "user.erased": { newestOf: "subject", data: object(user, {}) },
  "account.erased": { newestOf: "subject", data: object(account, {}) },
  "company-account.erased": { newestOf: "subject", data: object(company, {}) },
  "data.updated": { newestOf: "subject and type", data: dataUpdated },
  "account.incomplete": {
    newestOf: "subject",
    data: object(
      { ...readiness, missing: list(object({ endpoint: text, reason }, {})) },
      { ...user, ...ofItsUser },
    ),
  },
  "account.ready": { newestOf: "subject", data: object(readiness, { ...user, ...ofItsUser }) },
  "account.stale": {
    newestOf: "subject and type",
    data: object({ ...account, connectedSince: time }, { ...user, ...ofItsUser, newestAt: time }),
  },
  "user.ready": {
    newestOf: "subject",
    data: object({ ...user, accounts: list(settled) }, ofItsUser),
  },
  "subscriber.test": { newestOf: "subject", data: object({ test: always }, {}) },
};
