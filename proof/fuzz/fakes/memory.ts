import type { OverflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import type { Outgoing, Send } from "../../../adapters/sqs/sqs-sender.ts";

/** A bucket that forgets with the input. */
export function bucketInMemory(): OverflowBucket {
  const objects = new Map<string, Uint8Array>();
  const get = async (key: string) => objects.get(key) ?? new Uint8Array();
  return {
    put: async (key, content) => void objects.set(key, Buffer.from(content)),
    get,
    size: async (key) => (await get(key)).byteLength,
    find: async (key) => objects.get(key),
  };
}

/** Queues that keep what is sent, by their names. */
export function queuesInMemory(): {
  readonly send: Send;
  readonly in: (queue: string) => readonly Outgoing[];
} {
  const queues = new Map<string, Outgoing[]>();
  const of = (queue: string) => {
    const known = queues.get(queue) ?? [];
    queues.set(queue, known);
    return known;
  };
  return {
    in: of,
    send: async (queue, messages) => {
      of(queue).push(...messages);
      return messages.map(() => undefined);
    },
  };
}
