import type { Send } from "../../adapters/sqs/sqs-sender.ts";
import { type Failure, permanent } from "../../domain/core/failures.ts";
import { type FetchTask, fetchTaskMessage, mergeKeyOf, mergeTasks } from "../../domain/fetch/task.ts";
import type { Consequence } from "../../domain/message/consequences.ts";
import { writeDeadline } from "../../domain/readiness/deadline.ts";
import { writeEraseTask } from "../../domain/recovery/erasure.ts";
import { deliver, type FailedText, type OutgoingText, type Publish } from "../runtime/subscriber-queues.ts";

type Outgoing = Extract<Consequence, { type: "call" | "confirmCanary" | "endWait" | "erase" | "publish" }>;

/** A consequence that could not be sent. */
export type Unsent = {
  /** Index of its record in the batch. */
  readonly index: number;
  readonly failure: Failure;
  /** Set if only this subscriber's queue refused it. */
  readonly subscriber?: string | undefined;
};

/** URLs of the queues. `deadlines` and `canary` are absent if the stage has no such setting. */
export type TaskQueues = {
  readonly fetch: string;
  readonly erase: string;
  readonly deadlines?: string | undefined;
  readonly canary?: string | undefined;
};

/** Sends tasks and messages, batched over the whole invocation. */
export class Outbox {
  readonly #send: Send;
  readonly #queues: TaskQueues;
  readonly #publish: Publish;

  constructor(send: Send, queues: TaskQueues, publish: Publish) {
    this.#send = send;
    this.#queues = queues;
    this.#publish = publish;
  }

  /** @param lists the consequences of each record in the batch */
  async sendAll(lists: readonly (readonly Outgoing[])[]): Promise<readonly Unsent[]> {
    const outgoing = lists.flatMap((list, index) => list.map((consequence) => ({ index, consequence })));
    const tasks = outgoing.flatMap(({ index, consequence }) =>
      consequence.type === "call" ? [{ index, task: consequence.task }] : [],
    );
    const [failedTasks, , ...failed] = await Promise.all([
      this.#sendTasks(tasks),
      this.#sendCanaries(
        outgoing.flatMap(({ consequence }) => (consequence.type === "confirmCanary" ? consequence.id : [])),
      ),
      deliver(
        this.#send,
        this.#queues.erase,
        outgoing.flatMap(({ index, consequence }) =>
          consequence.type === "erase" ? [{ index, body: writeEraseTask(consequence.task) }] : [],
        ),
      ),
      this.#sendDeadlines(
        outgoing.flatMap(({ index, consequence }) =>
          consequence.type === "endWait" ? [{ index, body: writeDeadline(consequence.deadline) }] : [],
        ),
      ),
      this.#publish(
        outgoing.flatMap(({ index, consequence }) =>
          consequence.type === "publish"
            ? [{ index, message: consequence.message, storage: consequence.storage }]
            : [],
        ),
      ),
    ]);
    const unsent = failed.flat().map(({ text: { index }, failure, subscriber }) => {
      return { index, failure, subscriber };
    });
    return [...failedTasks, ...unsent];
  }

  /** A canary that can't be sent is missed by its function. It must not hold up the changes after it. */
  async #sendCanaries(ids: readonly string[]): Promise<void> {
    if (this.#queues.canary === undefined || ids.length === 0) return;
    await this.#send(
      this.#queues.canary,
      ids.map((body) => ({ body })),
    );
  }

  async #sendDeadlines(texts: readonly OutgoingText[]): Promise<readonly FailedText[]> {
    if (texts.length === 0) return [];
    if (this.#queues.deadlines === undefined) {
      const { failure } = permanent("readiness: this relay has no queue of deadlines");
      return texts.map((text) => ({ text, failure }));
    }
    return deliver(this.#send, this.#queues.deadlines, texts);
  }

  /** Merges the tasks of each document into one. If it can't be sent, every record that led to it fails. */
  async #sendTasks(
    tasks: readonly { readonly index: number; readonly task: FetchTask }[],
  ): Promise<readonly Unsent[]> {
    const merged = mergeTasks(tasks.map(({ task }) => task));
    if (merged.length === 0) return [];
    const failures = await this.#send(this.#queues.fetch, merged.map(fetchTaskMessage));
    const failureOfKey = new Map(merged.map((task, index) => [mergeKeyOf(task), failures[index]]));
    return tasks.flatMap(({ index, task }) => {
      const failure = failureOfKey.get(mergeKeyOf(task));
      return failure === undefined ? [] : [{ index, failure }];
    });
  }
}
