import type { Send } from "../../adapters/sqs-sender.ts";
import type { Consequence } from "../../domain/changes.ts";
import type { Failure } from "../../domain/failures.ts";
import { permanent } from "../../domain/failures.ts";
import { jsonText } from "../../domain/json-text.ts";
import { fieldsOf, textOf } from "../../domain/parse.ts";
import { type Subscriber, wants } from "../../domain/subscribers.ts";
import { writeTask } from "../../domain/tasks.ts";
import type { Log } from "../runtime/log.ts";

type Outgoing = Extract<Consequence, { do: "call" | "publish" }>;

/**
 * Sends what leaves the table, batched over the whole invocation.
 * @param lists for each record of the batch, what it leads to
 * @param fail is told the index of each record of which something could not be sent
 */
export type Outbox = (
  lists: readonly (readonly Outgoing[])[],
  fail: (index: number, failure: Failure) => void,
) => Promise<void>;

export type SubscriberQueue = Subscriber & { readonly queueUrl: string; readonly deadLetterQueueUrl: string };

type Letter = { readonly index: number; readonly body: string };

export function outbox(
  send: Send,
  fetchQueueUrl: string,
  subscribers: readonly SubscriberQueue[],
  log: Log,
): Outbox {
  const deliver = async (
    queueUrl: string,
    letters: readonly Letter[],
    reason?: string,
  ): Promise<readonly { letter: Letter; failure: Failure }[]> => {
    if (letters.length === 0) return [];
    const results = await send(
      queueUrl,
      letters.map(({ body }) => (reason === undefined ? { body } : { body, reason })),
    );
    return letters.flatMap((letter, index) => {
      const failure = results[index];
      return failure === undefined ? [] : [{ letter, failure }];
    });
  };

  // A subscriber that can't be written to is parked, and never holds up the others or the stream.
  const deliverOrPark = async (subscriber: SubscriberQueue, letters: readonly Letter[]) => {
    const failed = await deliver(subscriber.queueUrl, letters);
    const [first] = failed;
    if (first === undefined) return [];
    log("SUBSCRIBER_PARKED", {
      subscriber: subscriber.name,
      count: failed.length,
      reason: first.failure.reason,
    });
    return deliver(
      subscriber.deadLetterQueueUrl,
      failed.map(({ letter }) => letter),
      first.failure.reason,
    );
  };

  return async (lists, fail) => {
    const outgoing = lists.flatMap((list, index) => list.map((consequence) => ({ index, consequence })));
    const tasks = outgoing.flatMap(({ index, consequence }) =>
      consequence.do === "call" ? [{ index, body: writeTask(consequence.task) }] : [],
    );
    const lettersFor = (subscriber: Subscriber) =>
      outgoing.flatMap(({ index, consequence }) =>
        consequence.do === "publish" && wants(subscriber, consequence.message.type)
          ? [{ index, body: jsonText(consequence.message) }]
          : [],
      );
    const failed = await Promise.all([
      deliver(fetchQueueUrl, tasks),
      ...subscribers.map((subscriber) => deliverOrPark(subscriber, lettersFor(subscriber))),
    ]);
    for (const { letter, failure } of failed.flat()) fail(letter.index, failure);
  };
}

/** Joins the subscribers of the settings with their queues, which the deployment tells by name. */
export function joinQueues(subscribers: readonly Subscriber[], queues: unknown): readonly SubscriberQueue[] {
  const byName = fieldsOf(queues, "SUBSCRIBER_QUEUES");
  return subscribers.map((subscriber) => {
    if (byName[subscriber.name] === undefined) throw permanent(`SUBSCRIBER_QUEUES: no ${subscriber.name}`);
    const fields = fieldsOf(byName[subscriber.name], `SUBSCRIBER_QUEUES.${subscriber.name}`);
    return {
      ...subscriber,
      queueUrl: textOf(fields, "queueUrl"),
      deadLetterQueueUrl: textOf(fields, "deadLetterQueueUrl"),
    };
  });
}
