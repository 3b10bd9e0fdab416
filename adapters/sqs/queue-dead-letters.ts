import type { Message, SQSClient } from "@aws-sdk/client-sqs";
import { present } from "../../domain/core/parse.ts";
import type { DeadLetter, DeadLetterSource } from "../../domain/recovery/dead-letter.ts";
import { deleteAll, receiveBatch, releaseAll } from "./queue-messages.ts";
import { queueDepth } from "./queue-metrics.ts";

/** A long poll queries all servers of a queue; a short poll may miss messages. */
const pollInSeconds = 1;

/**
 * Asks SQS whether a queue may hold messages beyond the `held` ones of a reader. The counts are approximate and lag
 * by a minute, so a caller that relies on them checks again later.
 */
export function mayHoldOthers(client: SQSClient, queueUrl: string) {
  return async (held: number): Promise<boolean> => {
    const { waiting, inFlight } = await queueDepth(client, queueUrl);
    return waiting > 0 || inFlight > held;
  };
}

/**
 * The dead letters of a dead-letter queue. Those that stay are invisible to others until the reading ends, even by an
 * error, and are then released. Their receive counts rise by one.
 * @param visibilitySeconds the visibility timeout, called at each receive; messages of a killed reading return after it
 * @param holdsOthers called with the number of held messages when no more arrive; absent: messages that other readers
 * hold are ignored
 */
export function queueDeadLetters(
  client: SQSClient,
  queueUrl: string,
  visibilitySeconds: () => number,
  holdsOthers: (held: number) => Promise<boolean> = async () => false,
): DeadLetterSource {
  return async (handle) => {
    // Without bodies, since there may be many.
    const staying = new Map<string, Pick<Message, "ReceiptHandle">>();
    const taken = new Set<string>();
    let notRemoved = 0;
    const take = async (messages: readonly Message[]) => {
      const left = await deleteAll(client, queueUrl, messages);
      notRemoved += left.length;
      for (const message of messages.filter((each) => !left.includes(each))) {
        staying.delete(idOf(message));
        taken.add(idOf(message));
      }
    };
    try {
      // In a long reading the first messages become visible again. After a whole round of them, none are new.
      for (let againInRow = 0; againInRow <= staying.size; ) {
        const batch = await receiveBatch(client, queueUrl, {
          waitSeconds: pollInSeconds,
          visibilityTimeout: visibilitySeconds(),
        });
        if (batch.length === 0) break;
        const isNew = (message: Message) => !staying.has(idOf(message)) && !taken.has(idOf(message));
        const unseen = batch.filter(isNew);
        for (const message of batch) staying.set(idOf(message), { ReceiptHandle: message.ReceiptHandle });
        // A standard queue may redeliver a deleted message.
        await take(batch.filter((message) => taken.has(idOf(message))));
        againInRow = unseen.length === 0 ? againInRow + batch.length : 0;
        if (unseen.length === 0) continue;
        const { done, isEnough } = await handle(unseen.map(deadLetterOf));
        const ids = new Set(done.map(({ messageId }) => messageId));
        await take(unseen.filter((message) => ids.has(idOf(message))));
        if (isEnough) return { notRemoved, mayHaveMore: true };
      }
      return { notRemoved, mayHaveMore: await holdsOthers(staying.size) };
    } finally {
      await releaseAll(client, queueUrl, [...staying.values()]);
    }
  };
}

function idOf({ MessageId = "" }: Message): string {
  return MessageId;
}

function deadLetterOf(message: Message): DeadLetter {
  const { Body: body = "", Attributes = {}, MessageAttributes = {} } = message;
  return {
    messageId: idOf(message),
    sentAt: new Date(Number(Attributes.SentTimestamp)),
    receives: Number(Attributes.ApproximateReceiveCount),
    body,
    ...present({
      reason: MessageAttributes.reason?.StringValue,
      returns: MessageAttributes.returns?.StringValue,
    }),
  };
}
