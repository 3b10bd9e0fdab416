import { contentOfDocument } from "../../adapters/dynamodb/documents.ts";
import type { OverflowBucket } from "../../adapters/s3/overflow-bucket.ts";
import type { Send } from "../../adapters/sqs/sqs-sender.ts";
import { type Failure, failureOf, permanent } from "../../domain/core/failures.ts";
import { present } from "../../domain/core/parse.ts";
import { jsonText, plainJson } from "../../domain/event/json.ts";
import type { DocumentStorage } from "../../domain/fetch/document.ts";
import { addressedTo, withContent } from "../../domain/message/document-reference.ts";
import { type Subscriber, wants } from "../../domain/message/message.ts";
import type { Message } from "../../domain/message/message-schemas.ts";
import { queueBeside } from "./environment.ts";
import type { Log } from "./log.ts";

/** A message to publish, with the index of its record in the batch and where its document is stored. */
export type Published = {
  readonly index: number;
  readonly message: Message;
  readonly storage?: DocumentStorage | undefined;
};

/**
 * Writes documents into the messages that report them. A document that doesn't fit, or can't be read now, is
 * only referenced.
 * @param limit maximum bytes of the message, with the document
 * @param isRequired subscribers can't follow references, so the message fails instead
 */
export function inlineDocuments(limit: number, overflow: Pick<OverflowBucket, "get">, isRequired = false) {
  return async ({ message, storage }: Pick<Published, "message" | "storage">): Promise<string> => {
    const document = message.type === "data.updated" ? message.data.document : undefined;
    if (document === undefined) return jsonText(message);
    try {
      if (storage === undefined) throw permanent("the message reports a document without its data");
      if (document.size > limit) throw tooLarge();
      // A message is UTF-8 text, which would change the provider's bytes.
      if (document.contentType !== plainJson)
        throw permanent(
          "the document is not JSON in UTF-8, so a message can't contain it, and the setting reading is none",
        );
      const content = await contentOfDocument({ document: { digest: document.sha256 }, storage }, overflow);
      const text = content && withContent(message, Buffer.concat(content.parts).toString("utf8"));
      if (text === undefined) throw permanent("the document is not JSON, or its data is missing");
      if (Buffer.byteLength(text) > limit) throw tooLarge();
      return text;
    } catch (error) {
      if (isRequired) throw error;
      return jsonText(message);
    }
  };
}

function tooLarge(): Error {
  return permanent("the document is larger than documents.inlineLimit, and the setting reading is none");
}

/** A text for a queue; `index` identifies its record in the batch. */
export type OutgoingText = { readonly index: number; readonly body: string; readonly correlationId?: string };
export type FailedText = {
  readonly text: OutgoingText;
  readonly failure: Failure;
  /** Set if only this subscriber's queue refused it. */
  readonly subscriber?: string;
};

/** Immediate retries of a queue that refuses messages. */
export type Retries = {
  readonly waitsMs: readonly number[];
  readonly wait: (milliseconds: number) => Promise<unknown>;
  readonly now: () => Date;
};

/** The waits before a refused message is sent again. They take at most a quarter of the function's time. */
export function retryWaitsMs(timeoutSeconds: number): readonly number[] {
  let left = 250 * timeoutSeconds;
  return [250, 1_000, 2_500].filter((wait) => {
    left -= wait;
    return left >= 0;
  });
}

/** A queue whose retries failed gets none for this long: its outage must not delay the others. */
const noRetriesMs = 60_000;

/**
 * Sends messages to the subscribers that want them.
 * @returns the texts that were neither sent nor parked
 */
export type Publish = (messages: readonly Published[]) => Promise<readonly FailedText[]>;

/**
 * Publishes to the given subscribers.
 * @param inline writes a message with its document, if that fits; absent: messages only refer to documents
 * @param retries of a queue that refuses messages, before they are returned with the subscriber's name;
 * absent: they go to the subscriber's dead-letter queue
 */
export function publisher(
  send: Send,
  subscribers: readonly SubscriberQueue[],
  log: Log,
  {
    inline = async ({ message }) => jsonText(message),
    retries,
  }: {
    readonly inline?: ((published: Published) => Promise<string>) | undefined;
    readonly retries?: Retries;
  } = {},
): Publish {
  const refusedAt = new Map<string, number>();
  const deliverWithRetries = async (
    { name, queueUrl }: SubscriberQueue,
    texts: readonly OutgoingText[],
    { waitsMs, wait, now }: Retries,
  ): Promise<readonly FailedText[]> => {
    let failed = await deliver(send, queueUrl, texts);
    const isStillDown = now().getTime() - (refusedAt.get(name) ?? 0) < noRetriesMs;
    for (const milliseconds of isStillDown ? [] : waitsMs) {
      if (failed.length === 0) break;
      await wait(milliseconds);
      const left = failed.map(({ text }) => text);
      failed = await deliver(send, queueUrl, left);
    }
    if (failed.length > 0) refusedAt.set(name, now().getTime());
    return failed.map((each) => ({ ...each, subscriber: name }));
  };
  // An unreachable subscriber is parked, and never blocks the others.
  const deliverOrPark = async (subscriber: SubscriberQueue, texts: readonly OutgoingText[]) => {
    if (retries !== undefined) return deliverWithRetries(subscriber, texts, retries);
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

/** @returns the texts that could not be sent */
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

export type SubscriberQueue = Subscriber & { readonly queueUrl: string; readonly deadLetterQueueUrl: string };

/**
 * Adds the queues' URLs to the subscribers of the settings.
 * @param url of any queue in the same account and region
 * @param names `queue/dead-letter queue`, in the order of the subscribers
 * @throws permanent failure naming a subscriber whose queues are missing
 */
export function joinQueues(
  subscribers: readonly Subscriber[],
  url: string,
  names: readonly string[],
): readonly SubscriberQueue[] {
  return subscribers.map((subscriber, index) => {
    const [queue, deadLetterQueue] = names[index]?.split("/") ?? [];
    if (queue === undefined || deadLetterQueue === undefined) {
      throw permanent(`the environment names no queue and dead-letter queue of ${subscriber.name}`);
    }
    return {
      ...subscriber,
      queueUrl: queueBeside(url, queue),
      deadLetterQueueUrl: queueBeside(url, deadLetterQueue),
    };
  });
}
