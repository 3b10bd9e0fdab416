import type { Outgoing } from "../../../adapters/sqs/sqs-sender.ts";
import { deduplicationOf, groupOf, readTask } from "../../../domain/fetch/task.ts";
import type { DeadLetter } from "../../../domain/recovery/dead-letter.ts";

/**
 * What a FIFO queue needs of a dead letter that is sent to it: its task's group, and an id that the dead letter makes its
 * own. By the task's alone SQS would take it within five minutes, drop it, and it would be gone.
 */
export function taskOrder({ body, messageId }: DeadLetter): Pick<Outgoing, "group" | "deduplication"> {
  try {
    const task = readTask(body);
    return { group: groupOf(task), deduplication: deduplicationOf(task, messageId) };
  } catch {
    // What is no task of ours is for the function to judge.
    return { group: messageId, deduplication: messageId };
  }
}
