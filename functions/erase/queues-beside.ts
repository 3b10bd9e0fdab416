import { fieldsOf, isFields, optionalText, parseJson, textOf } from "../../domain/core/parse.ts";

/** Each queue of the stage that has dead letters, except the eraser's own. */
export type QueuesBeside = {
  /** For `joinQueues`: URLs by a subscriber's name. */
  readonly subscribers: Readonly<Record<string, object>>;
  /** The name that commands give a queue, and the URL of its dead letters. */
  readonly deadLetters: readonly (readonly [string, string])[];
};

const subscriberPrefix = "subscriber/";

/**
 * Reads where the queues of the stage are. They are reported by their names, since the URLs of all would not fit into a
 * function's environment; they lie beside a queue whose URL is known.
 * @param text JSON: by the queue's name for commands, `{deadLetters, queue}`, `queue` for subscribers' only
 * @throws permanent failure naming the field
 */
export function queuesBeside(url: string, text: string): QueuesBeside {
  const fields = fieldsOf(parseJson(text, "QUEUE_NAMES"), "QUEUE_NAMES");
  const beside = (name: string) => url.slice(0, url.lastIndexOf("/") + 1) + name;
  const all = Object.keys(fields).map((name) => {
    const { [name]: value } = fields;
    const names = fieldsOf(isFields(value) ? value : undefined, `QUEUE_NAMES.${name}`);
    const queue = optionalText(names, "queue");
    return {
      name,
      deadLetterQueueUrl: beside(textOf(names, "deadLetters")),
      ...(queue && { queueUrl: beside(queue) }),
    };
  });
  return {
    subscribers: Object.fromEntries(
      all
        .filter(({ name }) => name.startsWith(subscriberPrefix))
        .map(({ name, ...urls }) => [name.slice(subscriberPrefix.length), urls]),
    ),
    deadLetters: all.map(({ name, deadLetterQueueUrl }) => [name, deadLetterQueueUrl] as const),
  };
}
