import type { Send } from "../../adapters/sqs/sqs-sender.ts";
import { type Failure, failureOf } from "../../domain/core/failures.ts";
import { present } from "../../domain/core/parse.ts";
import { jsonText } from "../../domain/event/json-text.ts";
import { addressedTo } from "../../domain/message/document-reference.ts";
import { wants } from "../../domain/message/subscribers.ts";
import type { InlineText, Published } from "./inline-documents.ts";
import type { Log } from "./log.ts";
import type { SubscriberQueue } from "./queues-beside.ts";

/** A text on its way to a queue; `index` says what it belongs to. */
export type OutgoingText = { readonly index: number; readonly body: string; readonly correlationId?: string };
export type FailedText = { readonly text: OutgoingText; readonly failure: Failure };

/** Sends messages to all who want them. @returns those that are neither sent nor parked */
export type Publish = (messages: readonly Published[]) => Promise<readonly FailedText[]>;

/** @param inline writes a message with the document that it reports, where that fits; absent: messages refer to it */
export function publisher(
  send: Send,
  subscribers: readonly SubscriberQueue[],
  log: Log,
  inline: InlineText = async ({ message }) => jsonText(message),
): Publish {
  // A subscriber that can't be written to is parked, and never holds up the others.
  const deliverOrPark = async (subscriber: SubscriberQueue, texts: readonly OutgoingText[]) => {
    const failed = await deliver(send, subscriber.queueUrl, texts);
    const [first] = failed;
    if (first === undefined) return [];
    log("SUBSCRIBER_PARKED", {
      subscriber: subscriber.name,
      count: failed.length,
      correlationIds: failed.flatMap(({ text }) => text.correlationId ?? []),
      reason: first.failure.reason,
    });
    const left = failed.map(({ text }) => text);
    return deliver(send, subscriber.deadLetterQueueUrl, left, first.failure.reason);
  };
  return async (messages) => {
    const textOf = async (published: Published, { name, documents }: SubscriberQueue) => {
      const { index } = published;
      const message = addressedTo(published.message, name);
      const text = { index, body: "", ...present({ correlationId: message.correlationid }) };
      try {
        const body = documents === "inline" ? await inline({ ...published, message }) : jsonText(message);
        return { text: { ...text, body } };
      } catch (error) {
        return { text, failure: failureOf(error) };
      }
    };
    const failed = subscribers.map(async (subscriber): Promise<readonly FailedText[]> => {
      const wanted = messages.filter(({ message }) => wants(subscriber, message.type));
      const texts = await Promise.all(wanted.map((each) => textOf(each, subscriber)));
      const unwritten = texts.flatMap(({ text, failure }) => (failure ? [{ text, failure }] : []));
      const written = texts.flatMap(({ text, failure }) => (failure ? [] : [text]));
      return [...unwritten, ...(await deliverOrPark(subscriber, written))];
    });
    return (await Promise.all(failed)).flat();
  };
}

/** @returns the dead letters that could not be sent */
export async function deliver(
  send: Send,
  queueUrl: string,
  texts: readonly OutgoingText[],
  reason?: string,
): Promise<readonly FailedText[]> {
  if (texts.length === 0) return [];
  const results = await send(
    queueUrl,
    texts.map(({ body }) => (reason === undefined ? { body } : { body, reason })),
  );
  return texts.flatMap((text, index) => {
    const failure = results[index];
    return failure === undefined ? [] : [{ text, failure }];
  });
}
