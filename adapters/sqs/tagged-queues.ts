import {
  ListQueueTagsCommand,
  paginateListQueues,
  QueueDoesNotExist,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import { batchesOf } from "../../domain/core/batches.ts";
import type { DeadLetterPlace } from "../../domain/recovery/dead-letter.ts";

export type TagSearch = {
  /** What the names of the queues begin with. */
  readonly namePrefix: string;
  readonly key: string;
  readonly value: string;
  /** Names of queues that are not asked for their tags. */
  readonly except: ReadonlySet<string>;
};

/** The most that SQS answers at once. Source: Amazon SQS API reference, "ListQueues". */
const pageSize = 1_000;
/** Queues that are asked for their tags together. */
const atOnce = 10;

/** The URLs of the account's queues that carry a tag. */
export async function taggedQueues(
  client: SQSClient,
  { namePrefix: QueueNamePrefix, key, value, except }: TagSearch,
): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { QueueUrls = [] } of paginateListQueues({ client, pageSize }, { QueueNamePrefix })) {
    const unknown = QueueUrls.filter((url) => !except.has(nameOfQueue(url)));
    for (const batch of batchesOf(unknown, { maxItems: atOnce })) {
      const tags = await Promise.all(batch.map((url) => tagsOf(client, url)));
      found.push(...batch.filter((_, index) => tags[index]?.[key] === value));
    }
  }
  return found;
}

/** The name of a queue, which ends its URL. */
export function nameOfQueue(url: string): string {
  return url.slice(url.lastIndexOf("/") + 1);
}

/** A queue that may be deleted while it is read; it is empty then. */
export function unlessDeleted(place: DeadLetterPlace): DeadLetterPlace {
  return async (look) => {
    try {
      return await place(look);
    } catch (error) {
      if (error instanceof QueueDoesNotExist) return { notTaken: 0, mayHide: false };
      throw error;
    }
  };
}

/** A queue that was deleted is listed for a while. */
async function tagsOf(client: SQSClient, QueueUrl: string): Promise<Readonly<Record<string, string>>> {
  try {
    const { Tags = {} } = await client.send(new ListQueueTagsCommand({ QueueUrl }));
    return Tags;
  } catch (error) {
    if (error instanceof QueueDoesNotExist) return {};
    throw error;
  }
}
