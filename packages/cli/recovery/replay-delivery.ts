import type { Send } from "../../../adapters/sqs/sqs-sender.ts";
import { batchesOf } from "../../../domain/core/batches.ts";
import { jsonText } from "../../../domain/event/json-text.ts";
import type { Message } from "../../../domain/message/message-schemas.ts";
import { CommandError } from "../core/command-error.ts";
import type { Pace } from "../core/pace.ts";
import type { SubscriberQueue } from "../status/work-queues.ts";

/** Sends messages to one subscriber. @throws CommandError where they can't be sent */
export type Deliver = (subscriber: SubscriberQueue, messages: readonly Message[]) => Promise<void>;

/** As many as one request takes. */
const batchSize = 10;
const maxAttempts = 3;

export function replayDelivery(
  send: Send,
  pace: Pace,
  sleep: (milliseconds: number) => Promise<void>,
): Deliver {
  const deliver = async (
    subscriber: SubscriberQueue,
    messages: readonly Message[],
    tries: number,
  ): Promise<void> => {
    await pace(messages.length);
    const results = await send(
      subscriber.queueUrl,
      messages.map((message) => ({ body: jsonText(message) })),
    );
    const failed = messages.filter((_, index) => results[index] !== undefined);
    if (failed.length === 0) return;
    if (tries === maxAttempts) {
      const reason = results.find((failure) => failure !== undefined)?.reason;
      throw new CommandError("failed", `The queue of ${subscriber.name} takes no messages: ${reason}.`);
    }
    await sleep(500 * 2 ** tries);
    await deliver(subscriber, failed, tries + 1);
  };
  return async (subscriber, messages) => {
    for (const batch of batchesOf(messages, { maxItems: batchSize })) await deliver(subscriber, batch, 1);
  };
}
