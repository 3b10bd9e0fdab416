import { type QueueMetrics, queueDepth, queueMetrics } from "../../../adapters/sqs/queue-metrics.ts";
import type { Clients } from "../core/clients.ts";
import { ownQueues, type WorkQueue } from "./work-queues.ts";

/** The current status of a queue. Ages and times are undefined without messages or measurements. */
export type QueueStatus = {
  readonly name: string;
  readonly waiting: number;
  readonly inFlight: number;
  readonly oldestSeconds?: number;
  readonly deadLetters: number;
  readonly oldestDeadLetterSeconds?: number;
  /** When the last message was sent to it. */
  readonly lastSentAt?: string;
  readonly retentionSeconds: number;
  /** Messages wait for a subscriber that has not polled within two weeks. */
  readonly neverRead?: true;
};

/** Depths come from SQS, ages and times from CloudWatch (docs/adr/0008). */
export async function queueStatuses(
  queues: readonly WorkQueue[],
  { sqs, cloudWatch }: Pick<Clients, "sqs" | "cloudWatch">,
  now: () => Date,
): Promise<readonly QueueStatus[]> {
  const metrics = queueMetrics(cloudWatch, now);
  const all = queues.flatMap(({ queueUrl, deadLetterQueueUrl }) => [queueUrl, deadLetterQueueUrl]);
  const [ages, lastSent, depths] = await Promise.all([
    metrics.oldestAges(all),
    metrics.lastSent(queues.map(({ queueUrl }) => queueUrl)),
    Promise.all(all.map(async (url) => [url, await queueDepth(sqs, url)] as const)),
  ]);
  const depthOf = new Map(depths);
  const unread = await neverRead(queues, (url) => depthOf.get(url)?.waiting ?? 0, metrics);
  return queues.map(({ name, queueUrl, deadLetterQueueUrl }) => {
    const { waiting = 0, inFlight = 0, retentionSeconds = 0 } = depthOf.get(queueUrl) ?? {};
    const dead = depthOf.get(deadLetterQueueUrl);
    const deadLetters = (dead?.waiting ?? 0) + (dead?.inFlight ?? 0);
    const oldest = waiting + inFlight === 0 ? undefined : ages.get(queueUrl);
    const oldestDead = deadLetters === 0 ? undefined : ages.get(deadLetterQueueUrl);
    const sentAt = lastSent.get(queueUrl);
    return {
      name,
      waiting,
      inFlight,
      deadLetters,
      retentionSeconds,
      ...(oldest !== undefined && { oldestSeconds: oldest }),
      ...(oldestDead !== undefined && { oldestDeadLetterSeconds: oldestDead }),
      ...(sentAt !== undefined && { lastSentAt: sentAt.toISOString() }),
      ...(unread.has(queueUrl) && { neverRead: true as const }),
    };
  });
}

async function neverRead(
  queues: readonly WorkQueue[],
  waiting: (queueUrl: string) => number,
  metrics: QueueMetrics,
): Promise<ReadonlySet<string>> {
  const held = queues
    .filter(({ name, queueUrl }) => !isOwn(name) && waiting(queueUrl) > 0)
    .map(({ queueUrl }) => queueUrl);
  if (held.length === 0) return new Set();
  const asked = await metrics.lastAsked(held);
  return new Set(held.filter((url) => !asked.has(url)));
}

function isOwn(name: string): boolean {
  return ownQueues.some((own) => own === name);
}
