import { SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { deadLetterQueuesOf, outputOf } from "@income-events/local-stack/outputs.ts";
import { queueDepth } from "@income-events/local-stack/sources/queue-depth.ts";
import type { LocalStack } from "@income-events/local-stack/stack.ts";
import { fifoOrder } from "./fifo-order.ts";

const ofSomebodyElse = "of somebody else";

/**
 * Puts two dead letters into each dead-letter queue: one that names a user, one of somebody else. The eraser does not
 * look into its own, which gets the latter only.
 */
export async function putDeadLetters(sqs: SQSClient, stack: LocalStack, userId: string): Promise<void> {
  const own = outputOf(stack, "EraseQueueUrl");
  for (const { url, source } of deadLetterQueuesOf(stack)) {
    const bodies = source === own ? [ofSomebodyElse] : [ofSomebodyElse, JSON.stringify({ user: userId })];
    for (const MessageBody of bodies) {
      await sqs.send(new SendMessageCommand({ QueueUrl: url, MessageBody, ...fifoOrder(url) }));
    }
  }
}

/** What an erasure, and a run of the archive that finds no letter near its end, left or took wrongly, in words. */
export async function findWrongDeadLetters(sqs: SQSClient, stack: LocalStack): Promise<readonly string[]> {
  const depths = await Promise.all(
    deadLetterQueuesOf(stack).map(async ({ url, source }) => ({ source, depth: await queueDepth(sqs, url) })),
  );
  return depths.flatMap(({ source, depth }) => {
    const name = source.split("/").at(-1);
    if (depth === 0) return [`the dead letters of ${name} lack one of somebody else`];
    return depth === 1 ? [] : [`the dead letters of ${name} still hold one of the erased user`];
  });
}
