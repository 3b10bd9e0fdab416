import type { SQSRecord } from "aws-lambda";
import { type Failure, failureOf } from "../../domain/core/failures.ts";
import type { DeliveredTask } from "../../domain/fetch/coverage.ts";
import { type FetchTask, groupOf, readTask } from "../../domain/fetch/task.ts";

/** What SQS says of a message. */
export type Delivery = Omit<DeliveredTask, "since"> & {
  /** SQS's `SentTimestamp`. */
  readonly sentAt: number;
  readonly receives: number;
};

/** A task with the message that brought it. */
export type Delivered<Task extends FetchTask = FetchTask> = {
  readonly task: Task;
  readonly delivery: Delivery;
};

/** The tasks of a batch, those of one group together and in their order, and the messages that hold none. */
export type DeliveredTasks = {
  readonly groups: readonly (readonly Delivered[])[];
  readonly unreadable: ReadonlyMap<string, Failure>;
};

export function readDelivered(records: readonly SQSRecord[]): DeliveredTasks {
  const groups = new Map<string, Delivered[]>();
  const unreadable = new Map<string, Failure>();
  for (const record of records) {
    try {
      const task = readTask(record.body);
      const group = groups.get(groupOf(task)) ?? [];
      group.push({ task, delivery: deliveryOf(record) });
      groups.set(groupOf(task), group);
    } catch (error) {
      unreadable.set(record.messageId, failureOf(error));
    }
  }
  return { groups: [...groups.values()], unreadable };
}

function deliveryOf({ messageId, attributes }: SQSRecord): Delivery {
  return {
    messageId,
    sentAt: Number(attributes.SentTimestamp),
    firstReceivedAt: Number(attributes.ApproximateFirstReceiveTimestamp),
    receives: Number(attributes.ApproximateReceiveCount),
  };
}

/** What became of a task: `skipped` where there was nothing to do any more. */
export type TaskResult = "done" | "skipped" | Failure;
