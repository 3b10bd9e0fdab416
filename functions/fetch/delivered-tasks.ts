import type { SQSRecord } from "aws-lambda";
import { type Failure, failureOf } from "../../domain/core/failures.ts";
import type { DeliveredTask } from "../../domain/fetch/coverage.ts";
import { type FetchTask, groupOf, readTask } from "../../domain/fetch/task.ts";

/** SQS's metadata of a message. Times are milliseconds since 1970. */
export type Delivery = Omit<DeliveredTask, "since"> & {
  /** SQS's `SentTimestamp`. */
  readonly sentAt: number;
  readonly receives: number;
};

export type Delivered<Task extends FetchTask = FetchTask> = {
  readonly task: Task;
  readonly delivery: Delivery;
};

/** A batch's tasks by group, in order, and the failures of messages that can't be read, by message id. */
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

/** The result of a task: `skipped` if there was nothing left to do. */
export type TaskResult = "done" | "skipped" | Failure;
