import { texts } from "./json-schema.ts";

/** Attributes of the user that a message is about, or that owns its account or data. */
export const userAttributes = {
  attributes: texts(
    "What the stage's `mapping.users.attributes` takes from the user's metadata, such as the number of a loan: all that " +
      "is known when the message is sent. Absent while nothing is known; empty once they were removed.",
  ),
  attributesSequence: {
    type: "string",
    pattern: "^[0-9]{20}$",
    description:
      "Of all messages about a user, its accounts and their data, the one with the highest has the newest `attributes`. " +
      "It compares with no `sequence`.",
  },
} as const;
