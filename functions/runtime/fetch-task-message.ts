import type { Outgoing } from "../../adapters/sqs/sqs-sender.ts";
import { deduplicationOf, type FetchTask, groupOf, writeTask } from "../../domain/fetch/task.ts";

/** A task as a message of the fetch queue, grouped by document and deduplicated by cause. */
export function fetchTaskMessage(task: FetchTask): Outgoing {
  return { body: writeTask(task), group: groupOf(task), deduplication: deduplicationOf(task) };
}
