import type { Message, SQSClient } from "@aws-sdk/client-sqs";
import { deleteAll, receiveBatch, releaseAll } from "./queue-messages.ts";

/** A message that was searched for; `reason` is what dead letters carry. */
export type FoundMessage = { readonly body: string; readonly reason: string | undefined };

export type QueueSearch = {
  readonly queueUrl: string;
  readonly isWanted: (body: string) => boolean;
  /** Asked with all that was found so far; the search ends one receive later. */
  readonly isComplete: (found: readonly FoundMessage[]) => boolean;
  /** What becomes of messages that are not wanted: released when the search ends, or deleted as they come. */
  readonly others: "release" | "delete";
  /** Called with each message that is not wanted, once where SQS delivers it once. */
  readonly onOther?: (body: string) => void;
  /** How long the search may take. */
  readonly seconds: number;
};

export type SearchResult = { readonly found: readonly FoundMessage[]; readonly others: number };

/** The longest that SQS waits for a message. */
const longestPollInSeconds = 20;
/** Beyond the search's end, so that none comes twice; then what a killed search has hidden comes back by itself. */
const spareSeconds = 30;

/**
 * Searches a queue for messages and deletes what is found. A message that is not wanted is received once at
 * most: it stays hidden from the queue's readers until the search ends, and its receive count rises by one.
 */
export async function searchQueue(client: SQSClient, search: QueueSearch): Promise<SearchResult> {
  const { queueUrl, isWanted, isComplete, others, onOther, seconds } = search;
  const end = Date.now() + seconds * 1000;
  const found: FoundMessage[] = [];
  const held: Message[] = [];
  let otherCount = 0;
  const take = async (poll: number) => {
    const messages = await receiveBatch(client, queueUrl, { poll, hidden: seconds + spareSeconds });
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
    // Once more: what should not come shows only after what should.
    await take(1);
  } finally {
    await releaseAll(client, queueUrl, held);
  }
  return { found, others: otherCount };
}

function foundOf(body: string, attributes: Message["MessageAttributes"]): FoundMessage {
  return { body, reason: attributes?.reason?.StringValue };
}
