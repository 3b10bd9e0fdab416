import type { OverflowBucket } from "../../adapters/s3/overflow-bucket.ts";
import type { Outgoing } from "../../adapters/sqs/sqs-sender.ts";
import { permanent } from "../../domain/core/failures.ts";
import { type Envelope, inlineLimitInBytes, writeEnvelope } from "../../domain/event/envelope.ts";
import { deduplicationOf, type FetchTask, groupOf, writeTask } from "../../domain/fetch/task.ts";
import type { Subscriber } from "../../domain/message/subscribers.ts";

/** A task as a message of the fetch queue, grouped by document and deduplicated by cause. */
export function fetchTaskMessage(task: FetchTask): Outgoing {
  return { body: writeTask(task), group: groupOf(task), deduplication: deduplicationOf(task) };
}

export type SubscriberQueue = Subscriber & { readonly queueUrl: string; readonly deadLetterQueueUrl: string };

/** The URL of a queue in the same account and region: all URLs would not fit into an environment. */
function queueBeside(url: string, name: string): string {
  return url.slice(0, url.lastIndexOf("/") + 1) + name;
}

/**
 * Pairs owners of queues with their queues, which the environment names in the same order.
 * @returns each owner with its queue's URL
 * @throws permanent failure if a name is missing
 */
export function queuesBeside(
  url: string,
  owners: readonly string[],
  names: readonly string[],
): readonly (readonly [string, string])[] {
  return owners.map((owner, index) => {
    const name = names[index];
    if (name === undefined) throw permanent(`the environment names no queue of ${owner}`);
    return [owner, queueBeside(url, name)];
  });
}

/**
 * Adds the queues' URLs to the subscribers of the settings.
 * @param url of any queue in the same account and region
 * @param names `queue/dead-letter queue`, in the order of the subscribers
 * @throws permanent failure naming a subscriber whose queues are missing
 */
export function joinQueues(
  subscribers: readonly Subscriber[],
  url: string,
  names: readonly string[],
): readonly SubscriberQueue[] {
  return subscribers.map((subscriber, index) => {
    const [queue, deadLetterQueue] = names[index]?.split("/") ?? [];
    if (queue === undefined || deadLetterQueue === undefined) {
      throw permanent(`the environment names no queue and dead-letter queue of ${subscriber.name}`);
    }
    return {
      ...subscriber,
      queueUrl: queueBeside(url, queue),
      deadLetterQueueUrl: queueBeside(url, deadLetterQueue),
    };
  });
}

/** An envelope that fits into a message or an item, and its text. */
export type SizedEnvelope = { readonly envelope: Envelope; readonly message: string };

/** Moves a body that is too large to the overflow bucket, and leaves a pointer in its place. */
export async function sizedEnvelope(
  envelope: Envelope,
  overflow: Pick<OverflowBucket, "put">,
): Promise<SizedEnvelope> {
  const message = writeEnvelope(envelope);
  const { body, kind, id } = envelope;
  if (Buffer.byteLength(message) <= inlineLimitInBytes || (body.type !== "text" && body.type !== "base64")) {
    return { envelope, message };
  }
  const content = body.type === "text" ? body.text : body.base64;
  const key = `bodies/${kind}/${id}`;
  await overflow.put(key, content);
  const pointer = { type: "object", key, encoding: body.type, bytes: Buffer.byteLength(content) } as const;
  const sized = { ...envelope, body: pointer };
  return { envelope: sized, message: writeEnvelope(sized) };
}
