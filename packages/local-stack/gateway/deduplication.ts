import { asObject, asString, type JsonObject, type Operation, parseJsonObject } from "./operation.ts";

/** The window in which a FIFO queue takes a message with a known deduplication id for the same one. */
export type Deduplication = {
  /** A request for the engine, whose own window is five minutes: ids that are due again are others for it. */
  forEngine(operation: Operation, body: Buffer): Buffer;
  /** An answer for the caller, with the ids that were sent. */
  forCaller(body: string): string;
};

/** Stands between an id and how often it has become due again; no id may hold it. */
const mark = "#again";

/** @param now milliseconds since 1970 */
export function createDeduplication(windowSeconds: number, now: () => number): Deduplication {
  const sent = new Map<string, { readonly at: number; readonly times: number }>();

  function renewed(queue: string, entry: JsonObject): JsonObject {
    const id = asString(entry.MessageDeduplicationId);
    if (id === "") return entry;
    const key = `${queue} ${id}`;
    const known = sent.get(key);
    const isDue = known !== undefined && now() - known.at >= windowSeconds * 1000;
    const current = known !== undefined && !isDue ? known : { at: now(), times: (known?.times ?? -1) + 1 };
    sent.set(key, current);
    return current.times === 0 ? entry : { ...entry, MessageDeduplicationId: `${id}${mark}${current.times}` };
  }

  return {
    forEngine: ({ action }, body) => {
      if (action !== "sqs:SendMessage" && action !== "sqs:SendMessageBatch") return body;
      const input = parseJsonObject(body.toString());
      const queue = asString(input.QueueUrl);
      const { Entries: entries } = input;
      const changed = Array.isArray(entries)
        ? { ...input, Entries: entries.map((entry) => renewed(queue, asObject(entry))) }
        : renewed(queue, input);
      return Buffer.from(JSON.stringify(changed));
    },
    forCaller: (body) =>
      body.replace(new RegExp(`(?<="MessageDeduplicationId":"[^"]*)${mark}\\d+(?=")`, "g"), ""),
  };
}
