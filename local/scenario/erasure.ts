import { DynamoDBClient, paginateScan } from "@aws-sdk/client-dynamodb";
import { paginateListObjectsV2, S3Client } from "@aws-sdk/client-s3";
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { outputOf } from "../outputs.ts";
import { settle } from "../settle.ts";
import { queueDepth } from "../sources/queue-depth.ts";
import type { System } from "../system.ts";

/** Where a dead letter lies that names nobody who is erased: it is looked at and left. */
const othersLetters = "UsersDeadLetterQueueUrl";

/** A user of whom nothing may be left. */
export type Erased = { readonly userId: string; readonly accountIds: readonly string[] };

/**
 * Lets one more user connect an account, has the user erased, and lets the provider tell more of it afterwards.
 * @param patience milliseconds that the queues may take to empty
 */
export async function eraseUser({ sandbox, stack, access }: System, patience: number): Promise<Erased> {
  const { users, accounts } = await sandbox.createUsers(1, { pictures: 1 });
  const [userId = ""] = users;
  await settle({ sandbox, stack }, patience);
  const sqs = new SQSClient(access);
  try {
    const MessageBody = JSON.stringify({
      schemaVersion: 1,
      subject: { kind: "user", id: userId },
      namedWith: [],
      cause: "operator",
      id: "scenario",
      pass: 1,
      next: "subjects",
      erased: [],
      removed: {},
    });
    const others = { QueueUrl: outputOf(stack, othersLetters), MessageBody: "of somebody else" };
    await sqs.send(new SendMessageCommand(others));
    await sqs.send(new SendMessageCommand({ QueueUrl: outputOf(stack, "EraseQueueUrl"), MessageBody }));
  } finally {
    sqs.destroy();
  }
  await settle({ sandbox, stack }, patience);
  sandbox.deleteUser(userId);
  await settle({ sandbox, stack }, patience);
  return { userId, accountIds: accounts };
}

/** What is left of an erased user in the table and the bucket, and what was taken of somebody else, in words. */
export async function findRemains({ stack, access }: System, erased: Erased): Promise<readonly string[]> {
  const ids = [erased.userId, ...erased.accountIds];
  const names = (text: string) => ids.some((id) => text.includes(id));
  const remains: string[] = [];
  const dynamodb = new DynamoDBClient(access);
  const sqs = new SQSClient(access);
  const s3 = new S3Client({ ...access, forcePathStyle: true });
  try {
    const scan = { TableName: outputOf(stack, "TableName"), ConsistentRead: true };
    for await (const { Items = [] } of paginateScan({ client: dynamodb }, scan)) {
      const left = Items.map((item) => unmarshall(item)).filter((item) => names(JSON.stringify(item)));
      remains.push(...left.map(({ pk, sk }) => `the erased user is still in the table: ${pk} ${sk}`));
    }
    const list = { Bucket: outputOf(stack, "OverflowBucketName") };
    for await (const { Contents = [] } of paginateListObjectsV2({ client: s3 }, list)) {
      const left = Contents.flatMap(({ Key = "" }) => (names(Key) ? [Key] : []));
      remains.push(...left.map((key) => `the erased user is still in the bucket: ${key}`));
    }
    if ((await queueDepth(sqs, outputOf(stack, othersLetters))) === 0) {
      remains.push("the erasure took a dead letter of somebody else");
    }
  } finally {
    dynamodb.destroy();
    sqs.destroy();
    s3.destroy();
  }
  return remains;
}
