import { deadLetterArchive } from "../../adapters/sqs/dead-letter-archive.ts";
import { queueDeadLetters } from "../../adapters/sqs/queue-dead-letters.ts";
import type { DeadLetterPlace } from "../../domain/recovery/dead-letter.ts";
import type { Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { type WorkQueue, workQueues } from "../status/work-queues.ts";

/** What a command that was killed has hidden comes back by itself so much later. */
const hiddenInSeconds = 300;

/** The queue that a command names. @throws CommandError naming those that there are */
export function namedQueue({ deployment }: Operation, name: string): WorkQueue {
  const queues = workQueues(deployment);
  const found = queues.find((queue) => queue.name === name);
  if (found !== undefined) return found;
  const names = queues.map((queue) => queue.name).join(", ");
  throw new CommandError("usage", `There is no queue ${JSON.stringify(name)}. Name one of: ${names}.`);
}

export function deadLettersOf({ clients }: Operation, { deadLetterQueueUrl }: WorkQueue): DeadLetterPlace {
  return queueDeadLetters(clients.sqs, deadLetterQueueUrl, () => hiddenInSeconds);
}

export function archivedDeadLettersOf(
  { clients, deployment }: Operation,
  { name }: WorkQueue,
): DeadLetterPlace {
  return deadLetterArchive(clients.s3, deployment.output("ArchiveBucketName")).place(name);
}
