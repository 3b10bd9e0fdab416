import { GetObjectCommand, paginateListObjectsV2, S3Client } from "@aws-sdk/client-s3";
import { SQSClient } from "@aws-sdk/client-sqs";
import { z } from "zod";
import { deadLetterQueuesOf, outputOf } from "../outputs.ts";
import { queueDepth } from "../sources/queue-depth.ts";
import type { LocalStack } from "../stack.ts";
import type { Access, DeadLetter } from "./census.ts";

/** All of the 14 days that a queue keeps a message: with it every letter nears its end. */
const wholeRetention = JSON.stringify({ beforeEndSeconds: 14 * 86_400 });

/**
 * Archives all dead letters. What a run that was killed had in its hands comes back when that run's time is over.
 * @throws at the deadline, or where a run fails
 */
export async function archiveLetters(stack: LocalStack, access: Access, deadline: number): Promise<void> {
  const target = stack.functions.find(({ name }) => name === outputOf(stack, "ArchiveFunctionName"));
  const client = new SQSClient(access);
  const end = Date.now() + deadline;
  const isOneLeft = async () => {
    const depths = await Promise.all(deadLetterQueuesOf(stack).map(({ url }) => queueDepth(client, url)));
    return depths.some((depth) => depth > 0);
  };
  try {
    while (await isOneLeft()) {
      const outcome = await target?.invoke(wholeRetention);
      if (outcome?.kind !== "returned") throw new Error("The dead letters could not be archived");
      if (Date.now() > end) throw new Error("Some dead letters were never archived");
    }
  } finally {
    client.destroy();
  }
}

const archived = z.object({ body: z.string(), reason: z.string().optional() });
const identified = z.object({ id: z.string() });

/** What lies in the archive, read with the SDK. What has no reason was moved by SQS itself. */
export async function readArchive(access: Access, Bucket: string): Promise<readonly DeadLetter[]> {
  const client = new S3Client({ ...access, forcePathStyle: true });
  const found: DeadLetter[] = [];
  try {
    for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket })) {
      for (const { Key } of Contents) {
        const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
        const { body, reason } = archived.parse(JSON.parse((await Body?.transformToString()) ?? ""));
        const { success, data } = identified.safeParse(JSON.parse(body));
        const id = success ? data.id : body;
        found.push({ id, reason: reason ?? "received as often as its queue allows" });
      }
    }
  } finally {
    client.destroy();
  }
  return found;
}
