import { letterArchive } from "../../adapters/sqs/dead-letter-archive.ts";
import { queueLetters } from "../../adapters/sqs/queue-dead-letters.ts";
import type { LetterPlace } from "../../domain/recovery/dead-letter.ts";
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

export function deadLettersOf({ clients }: Operation, { deadLetterQueueUrl }: WorkQueue): LetterPlace {
  return queueLetters(clients.sqs, deadLetterQueueUrl, () => hiddenInSeconds);
}

export function archivedLettersOf({ clients, deployment }: Operation, { name }: WorkQueue): LetterPlace {
  return letterArchive(clients.s3, deployment.output("ArchiveBucketName")).place(name);
}
