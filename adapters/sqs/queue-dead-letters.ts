import type { Message, SQSClient } from "@aws-sdk/client-sqs";
import { present } from "../../domain/core/parse.ts";
import type { DeadLetter, DeadLetterPlace } from "../../domain/recovery/dead-letter.ts";
import { queueDepth } from "./queue-depth.ts";
import { deleteAll, receiveBatch, releaseAll } from "./queue-messages.ts";

/** A long poll asks all of a queue's servers: a short one may find nothing where there is something. */
const pollInSeconds = 1;

/** Whether a queue may hold more than so many messages that a reader has in its hands; see `nothingBeside`. */
export type MayHide = (held: number) => Promise<boolean>;

/**
 * Asks SQS whether all of a queue's messages are in a reader's hands. Its counts are approximate and lag by a minute:
 * who relies on it looks again later.
 */
export function nothingBeside(client: SQSClient, queueUrl: string): MayHide {
  return async (held) => {
    const { waiting, inFlight } = await queueDepth(client, queueUrl);
    return waiting > 0 || inFlight > held;
  };
}

/**
 * The dead letters of a dead-letter queue. Those that stay are hidden from others until the reading ends, then
 * released, however it ends; their receive counts rise by one.
 * @param hiddenSeconds asked at each receive: after that time what a killed reading has hidden comes back by itself
 * @param mayHide asked when nothing more comes, with how many are held; absent: nobody minds what others hold
 */
export function queueDeadLetters(
  client: SQSClient,
  queueUrl: string,
  hiddenSeconds: () => number,
  mayHide: MayHide = async () => false,
): DeadLetterPlace {
  return async (look) => {
    // Without their bodies: there may be many.
    const staying = new Map<string, Pick<Message, "ReceiptHandle">>();
    const taken = new Set<string>();
    let notTaken = 0;
    const take = async (messages: readonly Message[]) => {
      const left = await deleteAll(client, queueUrl, messages);
      notTaken += left.length;
      for (const message of messages.filter((each) => !left.includes(each))) {
        staying.delete(idOf(message));
        taken.add(idOf(message));
      }
    };
    try {
      // In a long reading what was hidden first comes round again; after a whole round there is nothing else.
      for (let againInRow = 0; againInRow <= staying.size; ) {
        const batch = await receiveBatch(client, queueUrl, { poll: pollInSeconds, hidden: hiddenSeconds() });
        if (batch.length === 0) break;
        const isNew = (message: Message) => !staying.has(idOf(message)) && !taken.has(idOf(message));
        const unseen = batch.filter(isNew);
        for (const message of batch) staying.set(idOf(message), { ReceiptHandle: message.ReceiptHandle });
        // A standard queue may show a message again that was deleted.
        await take(batch.filter((message) => taken.has(idOf(message))));
        againInRow = unseen.length === 0 ? againInRow + batch.length : 0;
        if (unseen.length === 0) continue;
        const { done, isEnough } = await look(unseen.map(deadLetterOf));
        const ids = new Set(done.map(({ messageId }) => messageId));
        await take(unseen.filter((message) => ids.has(idOf(message))));
        if (isEnough) return { notTaken, mayHide: true };
      }
      return { notTaken, mayHide: await mayHide(staying.size) };
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
