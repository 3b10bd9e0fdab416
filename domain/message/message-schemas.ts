import { type MessageType, outcomes } from "../event/events.ts";
import { missingReasons } from "../readiness/stored-readiness.ts";
import {
  attributes,
  count,
  flag,
  instant,
  list,
  namesOf,
  type ObjectSchema,
  object,
  type TypeOf,
  text,
  userAttributes,
} from "./json-schema.ts";

/** The CloudEvents `source` of a stage's messages. */
export function messageSource(stage: string): string {
  return `/income-events/${stage}`;
}

const userId = text("The provider's id of the user.");
const accountId = text("The provider's id of the account.");
const companyAccountId = text("The provider's id of the company account.");
const datasourceId = text("The provider's id of the source that the account belongs to.");
const endpoint = text("The name of the provider's endpoint, such as `income`.");

const outcome = {
  type: "string",
  enum: outcomes,
  description:
    "What the event did to the known state. `applied`: changed it. `agreed`: said nothing new. `stale`: was older. " +
    "`unconfirmed`: contradicts it, and no time says which is newer; the provider is asked, and `.confirmed` follows.",
} as const;
const reconciled = {
  type: "boolean",
  const: true,
  description:
    "The event came from a comparison with the provider, or from an operator who took that back, not from a webhook. " +
    "The webhook may still arrive, as another event.",
} as const;
const deleted = flag(
  "Whether it is deleted after the event. A deletion is final unless `account.restored` follows.",
);
const unconfirmed = flag("Whether the state is in doubt until the provider has answered.");
const connected = flag("Whether it is connected after the event. Absent while this is unknown.");

const status = {
  since: instant(
    "When it was connected or disconnected: the time of the webhook, or of the last one before the provider's answer. " +
      "Only if the stage has `readiness` or maps reasons.",
  ),
  reason: text(
    "Why it is connected or disconnected, in the provider's words. Only if the stage maps reasons.",
  ),
} as const;
const accountFields = { connected, ...status, userId, datasourceId, ...userAttributes };

const userEvent = object({ userId, deleted, unconfirmed, outcome }, { reconciled, ...userAttributes });
const accountEvent = object({ accountId, deleted, unconfirmed, outcome }, { ...accountFields, reconciled });
const companyEvent = object(
  { companyAccountId, deleted, unconfirmed, outcome },
  { ...accountFields, reconciled },
);

const dates = {
  dateStart: text("The first day of the event or of the data, as the provider wrote it."),
  dateEnd: text("The last day, likewise."),
};
const ofEitherAccount = {
  oneOf: [{ required: ["accountId"] }, { required: ["companyAccountId"] }],
} as const;

const href = text("The address of exactly this version: see the guide to documents.");
const sha256 = {
  type: "string",
  pattern: "^[0-9a-f]{64}$",
  description: "SHA-256 of the bytes as the provider sent them, in lower-case hex.",
} as const;
const version = {
  type: "string",
  pattern: "^[0-9]+$",
  description: "The version of the document. A higher number is newer.",
} as const;

const document = {
  ...object(
    {
      href,
      sha256,
      size: count("Number of these bytes."),
      contentType: text(
        "Their media type: `application/json` for JSON in UTF-8, otherwise as the provider named it.",
      ),
      version,
      observedAt: instant("When the provider was asked for it. ISO 8601 in UTC."),
    },
    {
      range: {
        ...object(
          { start: text("The first day, as the provider wrote it."), end: text("The last day.") },
          {},
        ),
        description:
          "The dates that the document covers, if its endpoint is read by ranges. Ranges may overlap: count each record " +
          "once, by its id.",
      },
      content: {
        description:
          "The document itself, with every digit as the provider wrote it. Only if the subscriber's settings say `inline` " +
          "and the message stays within `documents.inlineLimit`.",
      },
    },
  ),
  description: "The stored document. Absent if the provider has none.",
} as const;

const eventTime = "The event's own time, or the time of receipt if the provider gives none.";
const answerTime = "When the provider answered.";

const aboutUser = { time: eventTime, newestOf: "subject", data: userEvent } as const;
const aboutAccount = { time: eventTime, newestOf: "subject", data: accountEvent } as const;
const aboutCompany = { time: eventTime, newestOf: "subject", data: companyEvent } as const;
const confirmed = {
  sentWhen: "The provider was asked for the current state and answered.",
  time: answerTime,
  newestOf: "subject",
} as const;

const erased = {
  sentWhen:
    "All stored data was erased, by an operator's command or because of a deletion if the settings say so. Delete yours, " +
    "too. Nothing more follows unless the provider announces it again later; then its sequences start over.",
  time: "When it was first erased.",
  newestOf: "subject",
} as const;

const readDocuments = list(
  object({ endpoint, href, version, sha256 }, {}),
  "The documents that were read after the connection began, in the versions read.",
);

const missing = list(
  object(
    {
      endpoint,
      reason: {
        type: "string",
        enum: missingReasons,
        description:
          "`notAnnounced`: not read since the connection began. `none`: the provider has none. `tooFewDays`: covers less " +
          "than `readiness.minDays`. `failing`: reads fail. `deadLetter`: the read failed for good.",
      },
    },
    {},
  ),
  "Each missing endpoint with the reason.",
);

const connectedSince = instant("When this connection began: the receipt of its webhook. ISO 8601 in UTC.");
const ofAccount = { accountId, connectedSince, documents: readDocuments };
const ofUser = { userId, ...userAttributes };

const accounts = list(
  object(
    {
      accountId,
      status: {
        type: "string",
        enum: ["ready", "incomplete"],
        description: "As in the newest `account.ready` or `account.incomplete` of this connection.",
      },
      connectedSince,
    },
    {},
  ),
  "The user's connected accounts that are ready or incomplete, by id. At least one.",
);

/** The part of the contract for stages with the setting `readiness`. */
const readinessContract = {
  "account.incomplete": {
    sentWhen: "An endpoint was missing at the deadline of `readiness`. `account.ready` may still follow.",
    time: "The deadline.",
    newestOf: "subject",
    data: object({ ...ofAccount, missing }, ofUser),
  },
  "account.ready": {
    sentWhen:
      "Every endpoint of the setting `readiness` was read after the account was connected. Sent once for each connection.",
    time: "When the last of the documents was read.",
    newestOf: "subject",
    data: object(ofAccount, ofUser),
  },
  "account.stale": {
    sentWhen:
      "A connected account has had no new data for `readiness.staleDays`. Sent once until data is new again.",
    time: "When a comparison with the provider found it.",
    newestOf: "subject and type",
    data: object(
      { accountId, connectedSince },
      {
        ...ofUser,
        newestAt: instant("When data was last new. ISO 8601 in UTC. Absent if none was in this connection."),
      },
    ),
  },
  "user.ready": {
    sentWhen:
      "All of a user's connected accounts, or with `readiness.users` `any` at least one, are ready or incomplete. Sent " +
      "again when the accounts that it lists change.",
    time: "When the pipeline found the accounts so.",
    newestOf: "subject",
    data: object({ userId, accounts }, userAttributes),
  },
} as const;

/**
 * The contract with subscribers, and the only source of the messages' types, the reader's checks and the
 * documentation. How it may change: docs/adr/0013-what-subscribers-rely-on.md. Not part of any function's
 * bundle.
 */
export const contract = {
  "user.created": { ...aboutUser, sentWhen: "A user was created." },
  "user.updated": { ...aboutUser, sentWhen: "A user was changed." },
  "user.deleted": { ...aboutUser, sentWhen: "A user was deleted." },
  "account.created": { ...aboutAccount, sentWhen: "An account was created." },
  "account.updated": { ...aboutAccount, sentWhen: "An account was changed." },
  "account.connected": { ...aboutAccount, sentWhen: "An account was connected to its source." },
  "account.disconnected": { ...aboutAccount, sentWhen: "An account lost its source." },
  "account.deleted": { ...aboutAccount, sentWhen: "An account was deleted." },
  "account.restored": {
    ...aboutAccount,
    sentWhen:
      "An operator took back a deletion that a comparison with the provider had reported by mistake. The provider is " +
      "asked for the account's state, and `account.confirmed` follows.",
  },
  "endpoint.updated": {
    sentWhen: "The provider announced new data of an endpoint. The pipeline reads it now.",
    time: eventTime,
    newestOf: "subject and type",
    data: {
      ...object(
        { endpoint, outcome },
        {
          accountId,
          companyAccountId,
          userId,
          ...userAttributes,
          dataAvailable: flag("Whether the provider has data."),
          ...dates,
        },
      ),
      ...ofEitherAccount,
    },
  },
  "company-account.created": { ...aboutCompany, sentWhen: "A company account was created." },
  "company-account.updated": { ...aboutCompany, sentWhen: "A company account was changed." },
  "company-account.connected": {
    ...aboutCompany,
    sentWhen: "A company account was connected to its source.",
  },
  "company-account.disconnected": { ...aboutCompany, sentWhen: "A company account lost its source." },
  "company-account.deleted": { ...aboutCompany, sentWhen: "A company account was deleted." },
  "user.confirmed": { ...confirmed, data: object({ userId, deleted, unconfirmed }, userAttributes) },
  "account.confirmed": { ...confirmed, data: object({ accountId, deleted, unconfirmed }, accountFields) },
  "company-account.confirmed": {
    ...confirmed,
    data: object({ companyAccountId, deleted, unconfirmed }, accountFields),
  },
  "user.erased": { ...erased, data: object({ userId }, {}) },
  "account.erased": { ...erased, data: object({ accountId }, {}) },
  "company-account.erased": { ...erased, data: object({ companyAccountId }, {}) },
  "data.updated": {
    sentWhen: "An endpoint's data was fetched and is new or has changed.",
    time: answerTime,
    newestOf: "subject and type",
    data: {
      ...object(
        { endpoint },
        {
          accountId,
          companyAccountId,
          userId,
          ...userAttributes,
          ...dates,
          document,
        },
      ),
      ...ofEitherAccount,
    },
  },
  ...readinessContract,
  "subscriber.test": {
    sentWhen:
      "An operator tested this subscriber with `subscribers test`. It is sent to this queue only, whatever its filter says.",
    time: "When it was sent.",
    newestOf: "subject",
    data: object(
      { test: { type: "boolean", const: true, description: "Marks a test. It announces nothing." } },
      {},
    ),
  },
} as const satisfies Record<
  MessageType,
  {
    readonly sentWhen: string;
    readonly time: string;
    /**
     * Which messages supersede each other by `sequence`. Either every message reports the subject's full state,
     * or only messages of one type do: news of an endpoint does not tell which data is stored.
     */
    readonly newestOf: "subject" | "subject and type";
    readonly data: ObjectSchema;
  }
>;

export type MessageOf<Type extends MessageType> = Type extends MessageType
  ? TypeOf<typeof attributes> & { readonly type: Type; readonly data: DataOf<Type> }
  : never;

export type DataOf<Type extends MessageType> = TypeOf<(typeof contract)[Type]["data"]>;

/**
 * A message to a subscriber: CloudEvents 1.0 in JSON, with ids and states but no personal data. Delivered at
 * least once and in any order. Retries have the same `id`; a higher `sequence` of a `subject` is newer.
 */
export type Message = MessageOf<MessageType>;

/** All message types, in the order of the contract. */
export const messageTypes = namesOf(contract);

/** The schema of a complete message of one type, with attributes and data. */
export function messageSchema(type: MessageType) {
  const { data, sentWhen } = contract[type];
  return {
    title: type,
    description: sentWhen,
    type: "object",
    properties: {
      ...attributes.properties,
      type: { type: "string", const: type, description: "What happened." },
      data,
    },
    required: [...attributes.required, "type", "data"],
  } as const satisfies ObjectSchema & { title: string; description: string };
}
