import type { Outcome } from "../state/last-change.ts";
import { count, flag, type ObjectSchema, object, type TypeOf, text } from "./json-schema.ts";
import type { MessageType } from "./message-types.ts";
import { readinessContract } from "./readiness-schemas.ts";
import { userAttributes } from "./user-attributes.ts";

/**
 * The contract with subscribers, and the only source of message types, the reader's checks and the
 * documentation. How it may change: docs/adr/0013-what-subscribers-rely-on.md. Not part of any function's
 * bundle.
 */
type Contract = {
  readonly sentWhen: string;
  readonly time: string;
  /**
   * Which messages supersede each other by `sequence`. Either every message reports the subject's full state,
   * or only messages of one type do: news of an endpoint does not tell which data is stored.
   */
  readonly newestOf: "subject" | "subject and type";
  readonly data: ObjectSchema;
};

/** The CloudEvents attributes of every message, in addition to `type` and `data`. */
export const attributes = object(
  {
    specversion: { type: "string", const: "1.0", description: "The version of CloudEvents." },
    id: text("The same each time that this message is sent: drop what was handled."),
    source: { ...text("`/income-events/<stage>`."), pattern: "^/income-events/." },
    subject: text(
      "`user/<id>`, `account/<id>`, `company-account/<id>`; of data with `/<endpoint>` behind it, and with " +
        "`/<first day>..<last day>` behind that where it is read by dates; of readiness with `/readiness`. In an id `%`, `/` and `#` " +
        "are percent-encoded. Of a test `subscriber/<name>`.",
    ),
    time: {
      type: "string",
      format: "date-time",
      description: "ISO 8601 in UTC; what it is the time of depends on `type`.",
    },
    datacontenttype: { type: "string", const: "application/json", description: "What `data` is." },
    sequence: {
      type: "string",
      pattern: "^[0-9]{20}$",
      description: "Of two messages of one `subject` the higher one, compared as text, is the newer.",
    },
  },
  {
    replayid: text("A replay sent the message, by this id; absent in what the pipeline sends by itself."),
    correlationid: text(
      "The id of what led to the message, the same in the pipeline's logs: of the event, also where the provider was " +
        "asked or data was read because of it; of the erasure; of the comparison with the provider. Absent in a test, " +
        "and where an earlier release recorded it.",
    ),
  },
);

const userId = text("The provider's id of the user.");
const accountId = text("The provider's id of the account.");
const companyAccountId = text("The provider's id of the company account.");
const datasourceId = text("Where the account is: the provider's id of the source.");
const endpoint = text("The name of the provider's endpoint, such as `income`.");

const outcomes = ["applied", "agreed", "stale", "unconfirmed"] as const satisfies readonly Outcome[];
const outcome = {
  type: "string",
  enum: outcomes,
  description:
    "How the event stands to what was known: `applied`; `agreed`, nothing new; `stale`, older; or `unconfirmed`, " +
    "it contradicts and no time says which is newer: the provider is asked, and a `.confirmed` follows.",
} as const;
const reconciled = {
  type: "boolean",
  const: true,
  description:
    "No webhook brought the event: a comparison with the provider found it, or an operator took that back. The " +
    "webhook may still come, as one more event.",
} as const;
const deleted = flag("Whether it is deleted, after the event. Final, unless `account.restored` follows.");
const unconfirmed = flag("Whether what is known is in doubt, until the provider has answered.");
const connected = flag("Whether it is connected, after the event; absent while nothing has said so.");

const status = {
  since: {
    type: "string",
    format: "date-time",
    description:
      "Since when it is connected, or is not: when the webhook came, or the provider answered. Where the stage maps reasons.",
  },
  reason: text("Why it is connected, or is not, in the provider's words. Where the stage maps reasons."),
} as const;
const known = { connected, ...status, userId, datasourceId, ...userAttributes };

const userEvent = object({ userId, deleted, unconfirmed, outcome }, { reconciled, ...userAttributes });
const accountEvent = object({ accountId, deleted, unconfirmed, outcome }, { ...known, reconciled });
const companyEvent = object({ companyAccountId, deleted, unconfirmed, outcome }, { ...known, reconciled });

const dates = {
  dateStart: text("The first day that the event named, or that the data is of, as the provider wrote it."),
  dateEnd: text("The last day, likewise."),
};
const ofEitherAccount = {
  oneOf: [{ required: ["accountId"] }, { required: ["companyAccountId"] }],
} as const;

const document = {
  ...object(
    {
      href: text("Where exactly this version is read, for ever: see the guide to documents."),
      sha256: {
        type: "string",
        pattern: "^[0-9a-f]{64}$",
        description: "Of the bytes as the provider gave them, in lower-case hex.",
      },
      size: count("How many bytes these are."),
      contentType: text("What they are: `application/json` for JSON in UTF-8; else as the provider said."),
      version: {
        type: "string",
        pattern: "^[0-9]+$",
        description: "Of two versions of a document the higher number is the newer.",
      },
      observedAt: {
        type: "string",
        format: "date-time",
        description: "When the provider was asked that gave it: ISO 8601 in UTC.",
      },
    },
    {
      range: {
        ...object(
          { start: text("The first day, as the provider wrote it."), end: text("The last day.") },
          {},
        ),
        description:
          "The dates that the document covers, where its endpoint is read by ranges. Ranges may overlap: count a record " +
          "by its id, once.",
      },
      content: {
        description:
          "The document itself, every digit as the provider wrote it: where the subscriber's settings say `inline`, and the " +
          "message stays within `documents.inlineLimit`.",
      },
    },
  ),
  description: "The data that is stored now; absent where the provider has none.",
} as const;

const eventTime = "The event's own time; where the provider gives none, when it was received.";
const answerTime = "When the provider answered.";

const aboutUser = { time: eventTime, newestOf: "subject", data: userEvent } as const;
const aboutAccount = { time: eventTime, newestOf: "subject", data: accountEvent } as const;
const aboutCompany = { time: eventTime, newestOf: "subject", data: companyEvent } as const;
const confirmed = {
  sentWhen: "The provider was asked what is so, and answered.",
  time: answerTime,
  newestOf: "subject",
} as const;

const erased = {
  sentWhen:
    "An operator's command, or a deletion where the stage's settings say so, erased all that was kept. Forget it, too: " +
    "nothing more comes of it, unless the provider announces it again in months; then its sequences start over.",
  time: "When it was erased first.",
  newestOf: "subject",
} as const;

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
    sentWhen: "The provider has news of an endpoint; its data is read now.",
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
          dataAvailable: flag("Whether there is data to read."),
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
  "account.confirmed": { ...confirmed, data: object({ accountId, deleted, unconfirmed }, known) },
  "company-account.confirmed": {
    ...confirmed,
    data: object({ companyAccountId, deleted, unconfirmed }, known),
  },
  "user.erased": { ...erased, data: object({ userId }, {}) },
  "account.erased": { ...erased, data: object({ accountId }, {}) },
  "company-account.erased": { ...erased, data: object({ companyAccountId }, {}) },
  "data.updated": {
    sentWhen: "An endpoint's data was fetched and is not what was stored before.",
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
      "An operator tried this subscriber (`subscribers test`): sent to its queue alone, whatever its filter says.",
    time: "When it was sent.",
    newestOf: "subject",
    data: object({ test: { type: "boolean", const: true, description: "It announces nothing." } }, {}),
  },
} as const satisfies Record<MessageType, Contract>;

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
export const messageTypes = typesOf(contract);

function typesOf<T extends object>(types: T): readonly Extract<keyof T, string>[] {
  const isType = (name: string): name is Extract<keyof T, string> => name in types;
  return Object.keys(types).filter(isType);
}

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
