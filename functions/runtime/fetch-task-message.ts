import type { Outgoing } from "../../adapters/sqs/sqs-sender.ts";
import { deduplicationOf, type FetchTask, groupOf, writeTask } from "../../domain/fetch/task.ts";

/** A task as a message of the fetch queue: in its document's group, and once for its cause. */
export function fetchTaskMessage(task: FetchTask): Outgoing {
  return { body: writeTask(task), group: groupOf(task), deduplication: deduplicationOf(task) };
}
