import { permanent } from "../core/failures.ts";
import { fieldsOf, textOf } from "../core/parse.ts";

/**
 * The tag of a subscriber's two queues; its value is the pipeline's name. A production stage retains the
 * queues of removed subscribers, and only the tag shows their owner.
 */
export const subscriberTag = "income-events:subscriber-of";

/** A subscriber. `types` holds exact message types, or prefixes that end in `*`; absent: all messages. */
export type Subscriber = {
  readonly name: string;
  readonly types?: readonly string[];
  /** Whether messages contain the documents that they report, if these fit; absent: only references. */
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
