import { setTimeout as wait } from "node:timers/promises";
import { paginateListObjectsV2, S3Client } from "@aws-sdk/client-s3";
import { SQSClient } from "@aws-sdk/client-sqs";
import { outputOf, queuesOf } from "@income-events/local-stack/outputs.ts";
import { queueDepth } from "@income-events/local-stack/sources/drained.ts";
import type { ChaosSystem } from "../system.ts";
import { operate } from "./operate.ts";

/** Resolves when nothing is in progress: a whole round brings nothing new. */
export async function waitUntilIdle(
  { stack, provider }: Pick<ChaosSystem, "stack" | "provider">,
  patience: number,
): Promise<void> {
  for (;;) {
    const before = await provider.call("deliveries");
    while ((await provider.call("pending")) > 0) await wait(100);
    await stack.drained({ deadline: patience });
    if ((await provider.call("deliveries")) === before) return;
  }
}

/**
 * Recovers as an operator does: redrives what was given up. Messages that cannot be understood become dead
 * letters again.
 */
export async function recover(system: ChaosSystem, patience: number): Promise<void> {
  const { stack } = system;
  const queues = queuesOf(stack);
  const sqs = new SQSClient(system.access);
  const s3 = new S3Client({ ...system.access, forcePathStyle: true });
  try {
    const archived = await keysOf(s3, outputOf(stack, "ArchiveBucketName"));
    const redrive = async (short: string) => {
      const deadLetters = queues[`${short}-dead-letter`];
      if (deadLetters === undefined) return;
      // Name as in commands.
      const name = short.replace(/^subscriber-/, "subscriber/");
      if ((await queueDepth(sqs, deadLetters)) > 0) await operate(system, ["dlq", "redrive", name]);
      // After the queue's: messages that cannot be understood are back there at once.
      if (archived.some((key) => key.startsWith(`dead-letters/${name}/`))) {
        await operate(system, ["dlq", "redrive", name, "--archive"]);
      }
    };
    await Promise.all(Object.keys(queues).map(redrive));
    const failures = await keysOf(s3, outputOf(stack, "FailuresBucketName"));
    if (failures.length > 0) await operate(system, ["repair", "--failures", "--yes"]);
  } finally {
    sqs.destroy();
    s3.destroy();
  }
  await waitUntilIdle(system, patience);
}

async function keysOf(client: S3Client, Bucket: string): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket })) {
    keys.push(...Contents.flatMap(({ Key = "" }) => Key));
  }
  return keys;
}
