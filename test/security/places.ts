import type { OverflowBucket } from "../../adapters/s3/overflow-bucket.ts";
import type { Outgoing } from "../../adapters/sqs/sqs-sender.ts";

/** A bucket, a queue and its dead letters in memory, and what was sent to both. */
export function places() {
  const objects = new Map<string, Uint8Array>();
  const overflow: OverflowBucket = {
    put: async (key, content) => void objects.set(key, Buffer.from(content)),
    get: async (key) => objects.get(key) ?? new Uint8Array(),
    find: async (key) => objects.get(key),
  };
  const sent: Record<"queue" | "dead", Outgoing[]> = { queue: [], dead: [] };
  const send = async (queue: string, messages: readonly Outgoing[]) => {
    sent[queue === "dead" ? "dead" : "queue"].push(...messages);
    return messages.map(() => undefined);
  };
  return { overflow, send, sent };
}
