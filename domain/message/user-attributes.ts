import { texts } from "./json-schema.ts";

/** Attributes of the user that a message is about, or that owns its account or data. */
export const userAttributes = {
  attributes: texts(
    "Values that the stage's `mapping.users.attributes` takes from the user's metadata, such as a loan's number, as known " +
      "when the message is sent. Absent while none are known, empty after they were removed.",
  ),
  attributesSequence: {
    type: "string",
    pattern: "^[0-9]{20}$",
    description:
      "Orders `attributes` across all messages about a user, its accounts and their data: the highest is newest. " +
      "Do not compare it with a `sequence`.",
  },
} as const;
