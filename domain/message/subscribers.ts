import { permanent } from "../core/failures.ts";
import { fieldsOf, textOf } from "../core/parse.ts";

/**
 * The tag of both queues of a subscriber; its value is the name of the pipeline. A production stage retains the queues of a
 * subscriber that it no longer has: only the tag says whose they are.
 */
export const subscriberTag = "income-events:subscriber-of";

/** Who gets what: `types` holds exact message types, or prefixes that end in `*`; absent: everything. */
export type Subscriber = {
  readonly name: string;
  readonly types?: readonly string[];
  /** Whether messages hold the documents that they report, as far as these fit; absent: they refer to them. */
  readonly documents?: "inline";
};

export function wants(subscriber: Subscriber, type: string): boolean {
  const { types } = subscriber;
  return types === undefined || types.some((pattern) => matches(pattern, type));
}

function matches(pattern: string, type: string): boolean {
  return pattern.endsWith("*") ? type.startsWith(pattern.slice(0, -1)) : type === pattern;
}

/** @throws permanent failure naming the setting */
export function parseSubscribers(value: unknown): readonly Subscriber[] {
  if (!Array.isArray(value)) throw permanent("subscribers: expected a list");
  return value.map((entry: unknown) => {
    const fields = fieldsOf(entry, "subscribers");
    const name = textOf(fields, "name");
    const { types } = fields;
    return {
      name,
      ...(Array.isArray(types) && { types: types.map(String) }),
      ...(fields.documents === "inline" && { documents: fields.documents }),
    };
  });
}
