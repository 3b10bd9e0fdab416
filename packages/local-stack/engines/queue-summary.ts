import { z } from "zod";

/** How many messages a queue holds, by how they are seen, and when the oldest was sent. */
export const queueSummary = z.object({
  ready: z.number(),
  delayed: z.number(),
  inflight: z.number(),
  /** In milliseconds since 1970; missing where the queue holds none. */
  oldestSent: z.number().optional(),
});
export type QueueSummary = z.infer<typeof queueSummary>;

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
  // Those in flight count for the oldest, delayed ones too.
  const oldestSent = Math.min(
    oldestOf(ready, (message) => message),
    oldestOf(delayed, (message) => message),
    oldestOf(inflight, (entry) => memberOf(entry, "message")),
  );
  return Number.isFinite(oldestSent) ? { ...counts, oldestSent } : counts;
}

function oldestOf(entries: readonly unknown[], messageOf: (entry: unknown) => unknown): number {
  let oldest = Number.POSITIVE_INFINITY;
  for (const entry of entries) {
    const sent = memberOf(messageOf(entry), "sentTimestamp");
    if (typeof sent === "number" && sent < oldest) oldest = sent;
  }
  return oldest;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
