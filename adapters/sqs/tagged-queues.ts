import {
  ListQueueTagsCommand,
  paginateListQueues,
  QueueDoesNotExist,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import { batchesOf } from "../../domain/core/batches.ts";
import type { DeadLetterSource } from "../../domain/recovery/dead-letter.ts";

export type TagSearch = {
  readonly namePrefix: string;
  readonly key: string;
  readonly value: string;
  /** Names of queues whose tags are not read. */
  readonly except: ReadonlySet<string>;
};

/** SQS's limit of queues in a page. Source: Amazon SQS API reference, "ListQueues". */
const pageSize = 1_000;
/** Number of queues whose tags are read concurrently. */
const atOnce = 10;

/** The URLs of the account's queues that have a tag. */
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

/** The name of a queue, the end of its URL. */
export function nameOfQueue(url: string): string {
  return url.slice(url.lastIndexOf("/") + 1);
}

/** Treats a queue that is deleted while it is read as empty. */
export function unlessDeleted(source: DeadLetterSource): DeadLetterSource {
  return async (handle) => {
    try {
      return await source(handle);
    } catch (error) {
      if (error instanceof QueueDoesNotExist) return { notRemoved: 0, mayHaveMore: false };
      throw error;
    }
  };
}

/** SQS still lists a deleted queue for a while; it counts as untagged. */
async function tagsOf(client: SQSClient, QueueUrl: string): Promise<Readonly<Record<string, string>>> {
  try {
    const { Tags = {} } = await client.send(new ListQueueTagsCommand({ QueueUrl }));
    return Tags;
  } catch (error) {
    if (error instanceof QueueDoesNotExist) return {};
    throw error;
  }
}
