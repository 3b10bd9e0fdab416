import { permanent } from "../../domain/core/failures.ts";
import type { Subscriber } from "../../domain/message/subscribers.ts";

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
