import { setTimeout as wait } from "node:timers/promises";
import { DynamoDBClient, paginateScan } from "@aws-sdk/client-dynamodb";
import { paginateListObjectsV2, S3Client } from "@aws-sdk/client-s3";
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import type { LocalStack } from "@income-events/local-stack/stack.ts";
import type { System } from "@income-events/local-stack/system.ts";
import { waitUntilIdle } from "@income-events/local-stack/wait-until-idle.ts";
import { poster, sendLargeOf } from "./bad-input.ts";
import { findWrongChanges, putGivenUpChanges } from "./erasable-changes.ts";
import { findWrongDeadLetters, putDeadLetters } from "./erasable-dead-letters.ts";

/** A user of whom nothing may be left. */
export type Erased = { readonly userId: string; readonly accountIds: readonly string[] };

/** Lets a user connect an account who is to be erased later. */
export async function createErasable({ sandbox }: Pick<System, "sandbox">): Promise<Erased> {
  const { users, accounts } = await sandbox.createUsers(1, { pictures: 1 });
  return { userId: users[0] ?? "", accountIds: accounts };
}

/** Sends large bodies that name the user, one of which ends as a dead letter. @param secret headers of webhooks */
export async function sendLargeBodiesOf(
  { userId }: Erased,
  { stack }: Pick<System, "stack">,
  secret: Readonly<Record<string, string>>,
): Promise<void> {
  await sendLargeOf(poster(outputOf(stack, "WebhooksUrl")), { ...secret }, userId);
}

export type ErasureOptions = {
  /** Headers of webhooks. */
  readonly secret: Readonly<Record<string, string>>;
  /** Milliseconds that the queues may take to empty. */
  readonly patience: number;
  /** What else is done while the erasure goes on. */
  readonly meanwhile: () => Promise<void>;
};

/**
 * Has a user erased of whom there are large bodies and dead letters in queue and archive, and lets the provider report
 * more of it afterwards.
 * @param erased of whom large bodies were sent before, and archived
 */
export async function eraseUser(
  { sandbox, stack, access }: System,
  erased: Erased,
  { secret, patience, meanwhile }: ErasureOptions,
): Promise<void> {
  const { userId } = erased;
  await sendLargeBodiesOf(erased, { stack }, secret);
  await waitUntilIdle({ sandbox, stack }, patience);
  const sqs = new SQSClient(access);
  const s3 = new S3Client({ ...access, forcePathStyle: true });
  try {
    await putDeadLetters(sqs, stack, userId);
    await putGivenUpChanges(s3, stack, userId);
    await askForErasure(sqs, outputOf(stack, "EraseQueueUrl"), userId);
    await meanwhile();
  } finally {
    sqs.destroy();
    s3.destroy();
  }
  await untilErasedOnce(stack);
  sandbox.deleteUser(userId);
  await waitUntilIdle({ sandbox, stack }, patience);
}

/** What comes from then on comes too late, and between the two passes of the erasure. */
async function untilErasedOnce({ functions }: Pick<LocalStack, "functions">): Promise<void> {
  const erasers = functions.filter(({ logicalId }) => logicalId.startsWith("Erase"));
  const isErased = () => erasers.some(({ log }) => log().some((line) => line.includes('"ERASED"')));
  while (!isErased()) await wait(100);
}

/** Asks for a user's erasure as the operator's command does. */
export async function askForErasure(sqs: SQSClient, QueueUrl: string, userId: string): Promise<void> {
  const MessageBody = JSON.stringify({
    schemaVersion: 1,
    subject: { kind: "user", id: userId },
    namedWith: [],
    claimed: [],
    looks: 0,
    cause: "operator",
    id: "scenario",
    pass: 1,
    next: "subjects",
    erased: [],
    removed: {},
  });
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }));
}

/** What is left of an erased user in the table, the bucket and the dead letters, and what was taken of others. */
export async function findRemainsOf(system: System, erased: Erased): Promise<readonly string[]> {
  const remains = await findRemains(system, [erased.userId, ...erased.accountIds]);
  const { stack, access } = system;
  const sqs = new SQSClient(access);
  const s3 = new S3Client({ ...access, forcePathStyle: true });
  try {
    return [
      ...remains,
      ...(await findWrongDeadLetters(sqs, stack)),
      ...(await findWrongChanges(s3, stack, erased.userId)),
    ];
  } finally {
    sqs.destroy();
    s3.destroy();
  }
}

/** What in the table and the bucket names one of these ids, in words. */
export async function findRemains(
  { stack, access }: Pick<System, "stack" | "access">,
  ids: readonly string[],
): Promise<readonly string[]> {
  const named = (text: string) => ids.find((id) => text.includes(id));
  const remains: string[] = [];
  const dynamodb = new DynamoDBClient(access);
  const s3 = new S3Client({ ...access, forcePathStyle: true });
  try {
    const scan = { TableName: outputOf(stack, "TableName"), ConsistentRead: true };
    for await (const { Items = [] } of paginateScan({ client: dynamodb }, scan)) {
      const left = Items.map((item) => unmarshall(item)).filter((item) => named(JSON.stringify(item)));
      remains.push(
        ...left.map(
          (item) => `the erased ${named(JSON.stringify(item))} is still in the table: ${item.pk} ${item.sk}`,
        ),
      );
    }
    const list = { Bucket: outputOf(stack, "OverflowBucketName") };
    for await (const { Contents = [] } of paginateListObjectsV2({ client: s3 }, list)) {
      const left = Contents.flatMap(({ Key = "" }) => (named(Key) ? [Key] : []));
      remains.push(...left.map((key) => `the erased ${named(key)} is still in the bucket: ${key}`));
    }
  } finally {
    dynamodb.destroy();
    s3.destroy();
  }
  return remains;
}
