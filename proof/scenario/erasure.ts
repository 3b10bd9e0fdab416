import { setTimeout as wait } from "node:timers/promises";
import { ListObjectsV2Command, PutObjectCommand } from "@aws-sdk/client-s3";
import { SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { deadLetterQueuesOf, outputOf } from "@income-events/local-stack/outputs.ts";
import { queueDepth } from "@income-events/local-stack/sources/drained.ts";
import type { LocalStack } from "@income-events/local-stack/stack.ts";
import type { System } from "@income-events/local-stack/system.ts";
import { waitUntilIdle } from "@income-events/local-stack/wait-until-idle.ts";
import { eraseTask, writeEraseTask } from "../../domain/recovery/erasure.ts";
import { findRemains } from "../chaos/audit/find-remains.ts";
import { clientsOf, fifoOrder } from "./clients.ts";
import { largeReportsOf } from "./webhooks.ts";

/** A user of whom nothing may remain. */
export type Erased = { readonly userId: string; readonly accountIds: readonly string[] };

const ofSomebodyElse = "of somebody else";

export type ErasureOptions = {
  /** Maximum milliseconds until the queues are empty. */
  readonly patience: number;
  /** Runs while the erasure is in progress. */
  readonly meanwhile: () => Promise<void>;
};

/**
 * Erases a user with large bodies, and dead letters in queue and archive, and makes the provider report more
 * afterwards.
 * @param userId a user with large bodies that were sent and archived before
 */
export async function eraseUser(
  { sandbox, stack, access }: System,
  { userId }: Erased,
  { patience, meanwhile }: ErasureOptions,
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

/** Describes what remains of an erased user, and what others lost. */
export async function findRemainsOf(
  { stack, access }: System,
  { userId, accountIds }: Erased,
): Promise<readonly string[]> {
  const failures = outputOf(stack, "FailuresBucketName");
  const places = {
    tables: [outputOf(stack, "TableName")],
    buckets: [outputOf(stack, "OverflowBucketName"), outputOf(stack, "ArchiveBucketName"), failures],
    messages: {},
    logs: {},
  };
  using clients = clientsOf(access);
  const { KeyCount } = await clients.s3.send(new ListObjectsV2Command({ Bucket: failures }));
  const queues = await Promise.all(
    deadLetterQueuesOf(stack).map(async ({ url, source }) => {
      const depth = await queueDepth(clients.sqs, url);
      const words = `the dead letters of ${source.split("/").at(-1)}`;
      if (depth === 0) return [`${words} lack one of somebody else`];
      return depth === 1 ? [] : [`${words} still hold one of the erased user`];
    }),
  );
  return [
    ...(await findRemains(access, places, { ids: [userId, ...accountIds], marks: [] })),
    ...queues.flat(),
    ...(KeyCount === 1 ? [] : [`${KeyCount} given-up batches are left: that of somebody else should be`]),
  ];
}
