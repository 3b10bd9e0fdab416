import { setTimeout as wait } from "node:timers/promises";
import { SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import type { LocalStack } from "@income-events/local-stack/stack.ts";
import type { System } from "@income-events/local-stack/system.ts";
import { waitUntilIdle } from "@income-events/local-stack/wait-until-idle.ts";
import { eraseTask, writeEraseTask } from "../../domain/recovery/erasure.ts";
import { clientsOf } from "./clients.ts";
import { largeReportsOf } from "./webhooks.ts";

/** A user of whom nothing may remain. */
export type Erased = { readonly userId: string; readonly accountIds: readonly string[] };

/**
 * Erases a user with large bodies, also in the archive, and makes the provider report more afterwards.
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
  await askForErasure(clients.sqs, outputOf(stack, "EraseQueueUrl"), userId);
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
