import { outputOf, queuesOf } from "@income-events/local-stack/outputs.ts";
import { queueDepth } from "@income-events/local-stack/sources/drained.ts";
import { waitUntilIdle } from "@income-events/local-stack/wait-until-idle.ts";
import { clientsOf } from "../../scenario/clients.ts";
import { readObjects } from "../../scenario/snapshot.ts";
import type { ChaosSystem } from "../system.ts";
import { operate } from "./operate.ts";

/**
 * Recovers as an operator does: redrives what was given up. Messages that cannot be understood become dead
 * letters again.
 */
export async function recover(system: ChaosSystem, patience: number): Promise<void> {
  const { stack, access } = system;
  const queues = queuesOf(stack);
  using clients = clientsOf(access);
  const archived = await readObjects(access, outputOf(stack, "ArchiveBucketName"));
  const redrive = async (short: string) => {
    const deadLetters = queues[`${short}-dead-letter`];
    if (deadLetters === undefined) return;
    // Name as in commands.
    const name = short.replace(/^subscriber-/, "subscriber/");
    if ((await queueDepth(clients.sqs, deadLetters)) > 0) await operate(system, ["dlq", "redrive", name]);
    // After the queue's: messages that cannot be understood are back there at once.
    if (archived.keys().some((key) => key.startsWith(`dead-letters/${name}/`)))
      await operate(system, ["dlq", "redrive", name, "--archive"]);
  };
  await Promise.all(Object.keys(queues).map(redrive));
  const failures = await readObjects(access, outputOf(stack, "FailuresBucketName"));
  if (failures.size > 0) await operate(system, ["repair", "--failures", "--yes"]);
  await waitUntilIdle(system, patience);
}
