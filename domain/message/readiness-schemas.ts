import type { MissingReason } from "../readiness/readiness.ts";
import { list, object, text, userAttributes } from "./json-schema.ts";

const endpoint = text("The name of the provider's endpoint, such as `income`.");

const documents = list(
  object(
    {
      endpoint,
      href: text("The address of exactly this version: see the guide to documents."),
      version: {
        type: "string",
        pattern: "^[0-9]+$",
        description: "The version of the document. A higher number is newer.",
      },
      sha256: {
        type: "string",
        pattern: "^[0-9a-f]{64}$",
        description: "SHA-256 of the bytes as the provider sent them, in lower-case hex.",
      },
    },
    {},
  ),
  "The documents that were read after the connection began, in the versions read.",
);

const reasons = [
  "notAnnounced",
  "none",
  "tooFewDays",
  "failing",
  "deadLetter",
] as const satisfies readonly MissingReason[];
const missing = list(
  object(
    {
      endpoint,
      reason: {
        type: "string",
        enum: reasons,
        description:
          "`notAnnounced`: not read since the connection began. `none`: the provider has none. `tooFewDays`: covers less " +
          "than `readiness.minDays`. `failing`: reads fail. `deadLetter`: the read failed for good.",
      },
    },
    {},
  ),
  "Each missing endpoint with the reason.",
);

const accountId = text("The provider's id of the account.");
const userId = text("The provider's id of the user.");
const connectedSince = {
  type: "string",
  format: "date-time",
  description: "When this connection began: the receipt of its webhook. ISO 8601 in UTC.",
} as const;
const ofAccount = { accountId, connectedSince, documents };
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
export const readinessContract = {
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
        newestAt: {
          type: "string",
          format: "date-time",
          description: "When data was last new. ISO 8601 in UTC. Absent if none was in this connection.",
        },
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
