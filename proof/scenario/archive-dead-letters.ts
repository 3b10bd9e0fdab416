import { GetObjectCommand, paginateListObjectsV2, S3Client } from "@aws-sdk/client-s3";
import { SQSClient } from "@aws-sdk/client-sqs";
import { deadLetterQueuesOf, outputOf } from "@income-events/local-stack/outputs.ts";
import { queueDepth } from "@income-events/local-stack/sources/queue-depth.ts";
import type { LocalStack } from "@income-events/local-stack/stack.ts";
import { z } from "zod";
import type { Access, DeadLetter } from "./snapshot.ts";

/** All of the 14 days that a queue keeps a message: with it every letter nears its end. */
const wholeRetention = JSON.stringify({ beforeEndSeconds: 14 * 86_400 });

/**
 * Archives all dead letters. What a run that was killed had in its hands comes back when that run's time is over.
 * @throws at the deadline, or where a run fails
 */
export async function archiveDeadLetters(stack: LocalStack, access: Access, deadline: number): Promise<void> {
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

const archived = z.object({ queue: z.string(), body: z.string(), reason: z.string().optional() });
const identified = z.object({ id: z.string() });

/** What lies in the archive: what could not be processed, and what a subscriber's queue refused. */
export type Archived = {
  readonly deadLetters: readonly DeadLetter[];
  /** By subscriber: the texts of its messages. */
  readonly parked: ReadonlyMap<string, readonly string[]>;
};

/** Reads the archive with the SDK. What has no reason was moved by SQS itself. */
export async function readArchive(access: Access, Bucket: string): Promise<Archived> {
  const deadLetters: DeadLetter[] = [];
  const parked = new Map<string, string[]>();
  for await (const text of readTexts(access, Bucket)) {
    const {
      queue,
      body,
      reason = "received as often as its queue allows",
    } = archived.parse(JSON.parse(text));
    const subscriber = /^subscriber\/(?<name>.+)$/.exec(queue)?.groups?.name;
    if (subscriber === undefined) {
      const { success, data } = identified.safeParse(JSON.parse(body));
      deadLetters.push({ id: success ? data.id : body, reason, body });
    } else {
      parked.set(subscriber, [...(parked.get(subscriber) ?? []), body]);
    }
  }
  return { deadLetters, parked };
}

async function* readTexts(access: Access, Bucket: string): AsyncGenerator<string> {
  const client = new S3Client({ ...access, forcePathStyle: true });
  try {
    for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket })) {
      for (const { Key } of Contents) {
        const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
        yield (await Body?.transformToString()) ?? "";
      }
    }
  } finally {
    client.destroy();
  }
}
