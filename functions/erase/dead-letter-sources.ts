import type { SQSClient } from "@aws-sdk/client-sqs";
import type { DeadLetterArchive } from "../../adapters/sqs/dead-letter-archive.ts";
import { mayHoldOthers, queueDeadLetters } from "../../adapters/sqs/queue-dead-letters.ts";
import { nameOfQueue, taggedQueues, unlessDeleted } from "../../adapters/sqs/tagged-queues.ts";
import { subscriberTag } from "../../domain/message/message.ts";
import type { EraserDependencies } from "./dependencies.ts";

export type DeadLetterQueues = {
  /** Dead-letter queues, by the name that commands use for the queue. */
  readonly named: readonly (readonly [name: string, url: string])[];
  /** URLs of all other queues in the settings. */
  readonly others: readonly string[];
  readonly pipelineName: string;
};

/**
 * CloudFormation names a queue `<stack>-<logical id>-<random>` and cuts a long stack name to this many
 * characters. The pipeline's own name begins with the stack's.
 */
const maxStackNameLength = 24;

/**
 * Finds the sources of each queue's dead letters: the queue first, then the archive. Queues of removed
 * subscribers are included, because nobody reads them any more.
 */
export function deadLetterSources(
  client: SQSClient,
  archive: Pick<DeadLetterArchive, "source" | "sourceOfOthers">,
  { named, others, pipelineName }: DeadLetterQueues,
): EraserDependencies["deadLetters"] {
  const except = new Set([...named.map(([, url]) => url), ...others].map(nameOfQueue));
  const tagged = {
    namePrefix: pipelineName.slice(0, maxStackNameLength),
    key: subscriberTag,
    value: pipelineName,
  };
  return async (secondsLeft) => {
    // After a run is killed, its messages reappear when its time would have ended.
    const visibilitySeconds = () => Math.ceil(secondsLeft()) + 1;
    const inQueue = (url: string) =>
      queueDeadLetters(client, url, visibilitySeconds, mayHoldOthers(client, url));
    const removed = await taggedQueues(client, { ...tagged, except });
    // The eraser's own dead letters are not searched: each is an unfinished erasure.
    const archived = archive.sourceOfOthers([...named.map(([name]) => name), "erase"]);
    return [
      ...named.map(([name, url]) => [name, [inQueue(url), archive.source(name)]] as const),
      ["removed queues", [...removed.map((url) => unlessDeleted(inQueue(url))), archived]] as const,
    ];
  };
}
