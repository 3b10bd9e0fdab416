import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, type S3Client } from "@aws-sdk/client-s3";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import type { LocalStack } from "@income-events/local-stack/stack.ts";

const ofSomebodyElse = changeOf("somebody-else");

/** As a record of the stream names a user. */
function changeOf(userId: string) {
  return { dynamodb: { NewImage: { event: { M: { userId: { S: userId } } } } } };
}

/** Puts changes where Lambda puts what the relay gave up on: a batch that names a user alone, and one that others share. */
export async function putGivenUpChanges(s3: S3Client, stack: LocalStack, userId: string): Promise<void> {
  const own = changeOf(userId);
  for (const [Key, Records] of Object.entries({ alone: [own], shared: [own, ofSomebodyElse] })) {
    const Body = JSON.stringify({ payload: JSON.stringify({ Records }) });
    await s3.send(new PutObjectCommand({ Bucket: outputOf(stack, "FailuresBucketName"), Key, Body }));
  }
}

/** What an erasure left of the changes, or took wrongly, in words. */
export async function findWrongChanges(
  s3: S3Client,
  stack: LocalStack,
  userId: string,
): Promise<readonly string[]> {
  const Bucket = outputOf(stack, "FailuresBucketName");
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket }));
  const texts = await Promise.all(
    Contents.map(async ({ Key }) => {
      const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
      return (await Body?.transformToString()) ?? "";
    }),
  );
  const all = texts.join("\n");
  return [
    ...(all.includes(userId) ? ["changes that the relay gave up on still name the erased user"] : []),
    ...(all.includes("somebody-else") ? [] : ["the erasure took a given-up change of somebody else"]),
  ];
}
