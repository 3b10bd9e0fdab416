import type { MissingReason } from "../readiness/account-readiness.ts";
import { list, object, text } from "./json-schema.ts";
import { userAttributes } from "./user-attributes.ts";

const endpoint = text("The name of the provider's endpoint, such as `income`.");

const documents = list(
  object(
    {
      endpoint,
      href: text("Where exactly this version is read, for ever: see the guide to documents."),
      version: {
        type: "string",
        pattern: "^[0-9]+$",
        description: "Of two versions of a document the higher number is the newer.",
      },
      sha256: {
        type: "string",
        pattern: "^[0-9a-f]{64}$",
        description: "Of the bytes as the provider gave them, in lower-case hex.",
      },
    },
    {},
  ),
  "The documents that were read since the connection began, as they were then.",
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
          "`notAnnounced`: it was not read since the connection began; `none`: the provider has none; `tooFewDays`: it " +
          "covers less than `readiness.minDays`; `failing`: its reads fail; `deadLetter`: they were given up.",
      },
    },
    {},
  ),
  "Each endpoint that is missing, and why.",
);

const ofAccount = {
  accountId: text("The provider's id of the account."),
  connectedSince: {
    type: "string",
    format: "date-time",
    description:
      "When the connection began that it speaks of: when its webhook was received, ISO 8601 in UTC.",
  },
  documents,
} as const;
const known = { userId: text("The provider's id of the user."), ...userAttributes };

/** The part of the contract for stages with the setting `readiness`. */
export const readinessContract = {
  "account.incomplete": {
    sentWhen:
      "At the deadline of `readiness` an endpoint was missing. `account.ready` may still follow, once it has come.",
    time: "The deadline.",
    newestOf: "subject",
    data: object({ ...ofAccount, missing }, known),
  },
  "account.ready": {
    sentWhen:
      "Each endpoint of the setting `readiness` was read after the account was connected. Once for each connection.",
    time: "When the last of the documents was read.",
    newestOf: "subject",
    data: object(ofAccount, known),
  },
} as const;
