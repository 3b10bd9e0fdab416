import { partitionOf } from "../../adapters/dynamodb/keys.ts";
import { addRemoved, type EraseTask } from "../../domain/recovery/erasure.ts";
import { mentions } from "../../domain/recovery/mentions.ts";
import type { StepDependencies } from "./dependencies.ts";

/** Takes what names the erased out of the changes that the relay gave up on. */
export async function removeGivenUpChanges(
  task: EraseTask,
  { removeGivenUp }: StepDependencies,
): Promise<EraseTask> {
  const count = await removeGivenUp(mentions(task.erased, (subject) => [partitionOf(subject)]));
  const removed = count === 0 ? task.removed : addRemoved(task.removed, { "given-up changes": count });
  return { ...task, removed, next: "messages" };
}
