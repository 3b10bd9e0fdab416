import { setTimeout as wait } from "node:timers/promises";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { deadLetterQueuesOf, outputOf } from "@income-events/local-stack/outputs.ts";
import type { LocalStack } from "@income-events/local-stack/stack.ts";
import type { System } from "@income-events/local-stack/system.ts";
import { waitUntilIdle } from "@income-events/local-stack/wait-until-idle.ts";
import { eraseTask, writeEraseTask } from "../../domain/recovery/erasure.ts";
import { nameOfQueue, type Places } from "../chaos/audit/find-remains.ts";
import { clientsOf, fifoOrder } from "./clients.ts";
import { readObjects } from "./snapshot.ts";
import { largeReportsOf } from "./webhooks.ts";

/** A user of whom nothing may remain. */
export type Erased = { readonly userId: string; readonly accountIds: readonly string[] };

const ofSomebodyElse = "of somebody else";

/**
 * Erases a user with large bodies, and dead letters in queues and archive, and makes the provider report more
 * afterwards.
 * @param userId a user with large bodies that were sent and archived before
 * @param options.patience maximum milliseconds until the queues are empty
 * @param options.meanwhile runs while the erasure is in progress
 */
export async function eraseUser(
  { sandbox, stack, access }: System,
  { userId }: Erased,
  { patience, meanwhile }: { readonly patience: number; readonly meanwhile: () => Promise<void> },
): Promise<void> {
  for (const { kind, body } of largeReportsOf(userId)) sandbox.fireEvent(kind, body);
  await waitUntilIdle({ sandbox, stack }, patience);
  using clients = clientsOf(access);
  // The eraser does not search its own dead letters, so they get only somebody else's.
  const own = outputOf(stack, "EraseQueueUrl");
  for (const { url, source } of deadLetterQueuesOf(stack)) {
    const bodies = source === own ? [ofSomebodyElse] : [ofSomebodyElse, JSON.stringify({ user: userId })];
    for (const MessageBody of bodies)
      await clients.sqs.send(new SendMessageCommand({ QueueUrl: url, MessageBody, ...fifoOrder(url) }));
  }
  // Lambda's failure destination: a batch that names the user alone, and one that names others too.
  const Bucket = outputOf(stack, "FailuresBucketName");
  for (const [Key, users] of Object.entries({ alone: [userId], shared: [userId, ofSomebodyElse] })) {
    const Records = users.map((S) => ({ dynamodb: { NewImage: { event: { M: { userId: { S } } } } } }));
    const Body = JSON.stringify({ payload: JSON.stringify({ Records }) });
    await clients.s3.send(new PutObjectCommand({ Bucket, Key, Body }));
  }
  await askForErasure(clients.sqs, own, userId);
  await meanwhile();
  await untilErasedOnce(stack);
  sandbox.deleteUser(userId);
  await waitUntilIdle({ sandbox, stack }, patience);
}

/** Waits for the first pass: whatever arrives from then on is late, between the two passes of the erasure. */
async function untilErasedOnce({ functions }: LocalStack): Promise<void> {
  const erasers = functions.filter(({ logicalId }) => logicalId.startsWith("Erase"));
  const isErased = () => erasers.some(({ log }) => log().some((line) => line.includes('"ERASED"')));
  while (!isErased()) await wait(100);
}

/** Requests a user's erasure as the operator's command does. */
export async function askForErasure(sqs: SQSClient, QueueUrl: string, userId: string): Promise<void> {
  const MessageBody = writeEraseTask(eraseTask({ kind: "user", id: userId }, "operator", [], "scenario"));
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }));
}

/** Describes what others lost by the erasure: each queue keeps their dead letter, and their part of a batch is left. */
export async function findLost({ stack, access }: System, { messages }: Places): Promise<readonly string[]> {
  const lacking = deadLetterQueuesOf(stack)
    .map(({ url }) => nameOfQueue(url))
    .filter((name) => !messages[name]?.includes(ofSomebodyElse));
  const { size } = await readObjects(access, outputOf(stack, "FailuresBucketName"));
  return [
    ...lacking.map((name) => `${name} lacks a dead letter of somebody else`),
    ...(size === 1 ? [] : [`${size} given-up batches are left: that of somebody else should be`]),
  ];
}
