/** CloudWatch metrics of the milliseconds since a webhook was received. */
export const latencyMetrics = {
  /** Until the event's message is on its subscribers' queues. */
  toSubscriber: "WebhookToSubscriber",
  /** Until the announced document is stored. */
  toDocument: "WebhookToDocument",
} as const;

export type Latencies = Readonly<Partial<Record<keyof typeof latencyMetrics, readonly number[]>>>;

/** @param receivedAt when each webhook was received. Both are in milliseconds since 1970, of clocks that may differ */
export function millisecondsSince(receivedAt: readonly number[], now: number): readonly number[] {
  return receivedAt.map((at) => Math.max(0, now - at));
}
