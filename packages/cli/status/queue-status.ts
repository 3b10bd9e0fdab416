import { queueDepth } from "../../../adapters/sqs/queue-depth.ts";
import { queueMetrics } from "../../../adapters/sqs/queue-metrics.ts";
import type { Clients } from "../core/clients.ts";
import type { WorkQueue } from "./work-queues.ts";

/** A queue of the stage at this moment. Ages and times are absent where nothing is there, or nothing was measured. */
export type QueueStatus = {
  readonly name: string;
  readonly waiting: number;
  readonly inFlight: number;
  readonly oldestSeconds?: number;
  readonly deadLetters: number;
  readonly oldestDeadLetterSeconds?: number;
  /** When something last came to it. */
  readonly lastSentAt?: string;
  readonly retentionSeconds: number;
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
    };
  });
}
