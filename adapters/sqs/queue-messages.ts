import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import { batchesOf } from "../../domain/core/batches.ts";

/** SQS's limit of messages in a request. */
const batchSize = 10;

/** Receives up to ten messages with all their attributes and makes them invisible. Times are in seconds. */
export async function receiveBatch(
  client: SQSClient,
  queueUrl: string,
  { waitSeconds, visibilityTimeout }: { readonly waitSeconds: number; readonly visibilityTimeout: number },
): Promise<readonly Message[]> {
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({
      QueueUrl: queueUrl,
      MaxNumberOfMessages: batchSize,
      WaitTimeSeconds: waitSeconds,
      VisibilityTimeout: visibilityTimeout,
      MessageAttributeNames: ["All"],
      MessageSystemAttributeNames: ["SentTimestamp", "ApproximateReceiveCount"],
    }),
  );
  return Messages;
}

type Received = Pick<Message, "ReceiptHandle">;

/** Deletes received messages. @returns those that SQS could not delete */
export async function deleteAll<M extends Received>(
  client: SQSClient,
  QueueUrl: string,
  messages: readonly M[],
): Promise<readonly M[]> {
  const left: M[] = [];
  for (const batch of batchesOf(messages, { maxItems: batchSize })) {
    const Entries = batch.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
    const { Failed = [] } = await client.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
    left.push(...batch.filter((_, index) => Failed.some(({ Id }) => Id === String(index))));
  }
  return left;
}

/** Makes received messages visible at once. One that fails becomes visible after its timeout. */
export async function releaseAll(
  client: SQSClient,
  QueueUrl: string,
  messages: readonly Received[],
): Promise<void> {
  for (const batch of batchesOf(messages, { maxItems: batchSize })) {
    const Entries = batch.map(({ ReceiptHandle }, index) => ({
      Id: String(index),
      ReceiptHandle,
      VisibilityTimeout: 0,
    }));
    await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries }));
  }
}

/** A message that the search found; dead letters carry a `reason`. */
export type FoundMessage = { readonly body: string; readonly reason: string | undefined };

export type QueueSearch = {
  readonly queueUrl: string;
  readonly isWanted: (body: string) => boolean;
  /** Called with all messages found so far. Once it returns true, the search ends after one more receive. */
  readonly isComplete: (found: readonly FoundMessage[]) => boolean;
  /** How unwanted messages are treated: release them when the search ends, or delete them on arrival. */
  readonly others: "release" | "delete";
  /** Called with each unwanted message, once if SQS delivers it once. */
  readonly onOther?: (body: string) => void;
  /** How long the search may take. */
  readonly seconds: number;
};

export type SearchResult = { readonly found: readonly FoundMessage[]; readonly others: number };

/** SQS's limit for a long poll. */
const longestPollInSeconds = 20;
/**
 * Visibility timeout beyond the end of the search, so that no message arrives twice. After a killed search its
 * messages return then.
 */
const spareSeconds = 30;

/**
 * Searches a queue and deletes the messages that it finds. An unwanted message is received at most once: it stays
 * invisible to the queue's readers until the search ends, and its receive count rises by one.
 */
export async function searchQueue(client: SQSClient, search: QueueSearch): Promise<SearchResult> {
  const { queueUrl, isWanted, isComplete, others, onOther, seconds } = search;
  const end = Date.now() + seconds * 1000;
  const found: FoundMessage[] = [];
  const held: Message[] = [];
  let otherCount = 0;
  const take = async (poll: number) => {
    const messages = await receiveBatch(client, queueUrl, {
      waitSeconds: poll,
      visibilityTimeout: seconds + spareSeconds,
    });
    const wanted = messages.filter(({ Body = "" }) => isWanted(Body));
    const rest = messages.filter((message) => !wanted.includes(message));
    found.push(...wanted.map(({ Body = "", MessageAttributes }) => foundOf(Body, MessageAttributes)));
    otherCount += rest.length;
    for (const { Body = "" } of rest) onOther?.(Body);
    if (others === "release") held.push(...rest);
    await deleteAll(client, queueUrl, others === "delete" ? messages : wanted);
  };
  try {
    while (!isComplete(found) && Date.now() < end) {
      await take(Math.min(longestPollInSeconds, Math.ceil((end - Date.now()) / 1000)));
    }
    // One more receive, since an unexpected message arrives only after the expected ones.
    await take(1);
  } finally {
    await releaseAll(client, queueUrl, held);
  }
  return { found, others: otherCount };
}

function foundOf(body: string, attributes: Message["MessageAttributes"]): FoundMessage {
  return { body, reason: attributes?.reason?.StringValue };
}
