import { z } from "zod";

/** How many messages a queue holds, by their visibility, and when the oldest of those that its age counts was sent. */
export const queueSummary = z.object({
  ready: z.number(),
  delayed: z.number(),
  inflight: z.number(),
  /** In milliseconds since 1970; missing where the queue holds no message that counts. */
  oldestSent: z.number().optional(),
});
export type QueueSummary = z.infer<typeof queueSummary>;

/**
 * A message of a standard queue that was received this often has moved to the back of the queue, and counts for its age no
 * more until it is processed; also with a redrive policy. FIFO queues keep their order.
 * Source: SQS developer guide, "Available CloudWatch metrics for Amazon SQS", ApproximateAgeOfOldestMessage.
 */
const receivesUntilIgnored = 3;

/**
 * A trap: a schema of all messages would copy each of them, of which a queue may hold a hundred thousand.
 * @param inspected a queue as the engine shows it, with all messages
 * @returns undefined where it is none
 */
export function summaryOf(inspected: unknown): QueueSummary | undefined {
  const messages = memberOf(inspected, "messages");
  const [ready, delayed, inflight] = ["ready", "delayed", "inflight"].map((name) => memberOf(messages, name));
  if (!Array.isArray(ready) || !Array.isArray(delayed) || !Array.isArray(inflight)) return undefined;
  const counts = { ready: ready.length, delayed: delayed.length, inflight: inflight.length };
  const name = memberOf(inspected, "name");
  const isFifo = typeof name === "string" && name.endsWith(".fifo");
  const receives = isFifo ? Number.POSITIVE_INFINITY : receivesUntilIgnored;
  // Messages in flight and delayed ones count, too.
  const oldestSent = Math.min(
    oldestOf(ready, receives, (message) => message),
    oldestOf(delayed, receives, (message) => message),
    oldestOf(inflight, receives, (entry) => memberOf(entry, "message")),
  );
  return Number.isFinite(oldestSent) ? { ...counts, oldestSent } : counts;
}

function oldestOf(
  entries: readonly unknown[],
  receives: number,
  messageOf: (entry: unknown) => unknown,
): number {
  let oldest = Number.POSITIVE_INFINITY;
  for (const entry of entries) {
    const message = messageOf(entry);
    const [sent, received] = [
      memberOf(message, "sentTimestamp"),
      memberOf(message, "approximateReceiveCount"),
    ];
    if (typeof received === "number" && received >= receives) continue;
    if (typeof sent === "number" && sent < oldest) oldest = sent;
  }
  return oldest;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
