import type { Send } from "../../adapters/sqs/sqs-sender.ts";
import type { Failure } from "../../domain/core/failures.ts";
import { writeTask } from "../../domain/fetch/tasks.ts";
import type { Consequence } from "../../domain/message/consequences.ts";
import { writeEraseTask } from "../../domain/recovery/erasure.ts";
import { deliver, type Publish } from "../runtime/subscriber-queues.ts";

type Outgoing = Extract<Consequence, { do: "call" | "erase" | "publish" }>;

/**
 * Sends what leaves the table, batched over the whole invocation.
 * @param lists for each record of the batch, what it leads to
 * @param fail is given the index of each record of which something could not be sent
 */
export type Outbox = (
  lists: readonly (readonly Outgoing[])[],
  fail: (index: number, failure: Failure) => void,
) => Promise<void>;

export type TaskQueues = { readonly fetch: string; readonly erase: string };

export function outbox(send: Send, queues: TaskQueues, publish: Publish): Outbox {
  return async (lists, fail) => {
    const outgoing = lists.flatMap((list, index) => list.map((consequence) => ({ index, consequence })));
    const failed = await Promise.all([
      deliver(
        send,
        queues.fetch,
        outgoing.flatMap(({ index, consequence }) =>
          consequence.do === "call" ? [{ index, body: writeTask(consequence.task) }] : [],
        ),
      ),
      deliver(
        send,
        queues.erase,
        outgoing.flatMap(({ index, consequence }) =>
          consequence.do === "erase" ? [{ index, body: writeEraseTask(consequence.task) }] : [],
        ),
      ),
      publish(
        outgoing.flatMap(({ index, consequence }) =>
          consequence.do === "publish" ? [{ index, message: consequence.message }] : [],
        ),
      ),
    ]);
    for (const { text, failure } of failed.flat()) fail(text.index, failure);
  };
}
