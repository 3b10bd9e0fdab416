import type { Send } from "../../adapters/sqs/sqs-sender.ts";
import { type Failure, permanent } from "../../domain/core/failures.ts";
import { type FetchTask, mergeKeyOf, mergeTasks } from "../../domain/fetch/task.ts";
import type { Consequence } from "../../domain/message/consequences.ts";
import { writeDeadline } from "../../domain/readiness/deadline.ts";
import { writeEraseTask } from "../../domain/recovery/erasure.ts";
import { fetchTaskMessage } from "../runtime/fetch-task-message.ts";
import { deliver, type FailedText, type OutgoingText, type Publish } from "../runtime/subscriber-queues.ts";

type Outgoing = Extract<Consequence, { type: "call" | "endWait" | "erase" | "publish" }>;

/**
 * Reports a consequence that could not be sent.
 * @param index of its record in the batch
 * @param subscriber set if only this subscriber's queue refused it
 */
type Fail = (index: number, failure: Failure, subscriber?: string) => void;

/**
 * Sends tasks and messages, batched over the whole invocation.
 * @param lists the consequences of each record in the batch
 */
export type Outbox = (lists: readonly (readonly Outgoing[])[], fail: Fail) => Promise<void>;

/** URLs of the task queues. `deadlines` is absent if the stage has no `readiness` setting. */
export type TaskQueues = {
  readonly fetch: string;
  readonly erase: string;
  readonly deadlines?: string | undefined;
};

export function outbox(send: Send, queues: TaskQueues, publish: Publish): Outbox {
  return async (lists, fail) => {
    const outgoing = lists.flatMap((list, index) => list.map((consequence) => ({ index, consequence })));
    const tasks = outgoing.flatMap(({ index, consequence }) =>
      consequence.type === "call" ? [{ index, task: consequence.task }] : [],
    );
    const [, ...failed] = await Promise.all([
      sendTasks(tasks, { send, queueUrl: queues.fetch }, fail),
      deliver(
        send,
        queues.erase,
        outgoing.flatMap(({ index, consequence }) =>
          consequence.type === "erase" ? [{ index, body: writeEraseTask(consequence.task) }] : [],
        ),
      ),
      deliverTo(
        queues.deadlines,
        outgoing.flatMap(({ index, consequence }) =>
          consequence.type === "endWait" ? [{ index, body: writeDeadline(consequence.deadline) }] : [],
        ),
        send,
      ),
      publish(
        outgoing.flatMap(({ index, consequence }) =>
          consequence.type === "publish"
            ? [{ index, message: consequence.message, place: consequence.place }]
            : [],
        ),
      ),
    ]);
    for (const { text, failure, subscriber } of failed.flat()) fail(text.index, failure, subscriber);
  };
}

async function deliverTo(
  queueUrl: string | undefined,
  texts: readonly OutgoingText[],
  send: Send,
): Promise<readonly FailedText[]> {
  if (texts.length === 0) return [];
  if (queueUrl === undefined) {
    const { failure } = permanent("readiness: this relay has no queue of deadlines");
    return texts.map((text) => ({ text, failure }));
  }
  return deliver(send, queueUrl, texts);
}

/** Merges the tasks of each document into one. If it can't be sent, every record that led to it fails. */
async function sendTasks(
  tasks: readonly { readonly index: number; readonly task: FetchTask }[],
  { send, queueUrl }: { readonly send: Send; readonly queueUrl: string },
  fail: Fail,
): Promise<void> {
  const merged = mergeTasks(tasks.map(({ task }) => task));
  if (merged.length === 0) return;
  const failures = await send(queueUrl, merged.map(fetchTaskMessage));
  const failureOfKey = new Map(merged.map((task, index) => [mergeKeyOf(task), failures[index]]));
  for (const { index, task } of tasks) {
    const failure = failureOfKey.get(mergeKeyOf(task));
    if (failure !== undefined) fail(index, failure);
  }
}
