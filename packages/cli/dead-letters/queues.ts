import { deadLetterArchive } from "../../../adapters/sqs/dead-letter-archive.ts";
import { mayHoldOthers, queueDeadLetters } from "../../../adapters/sqs/queue-dead-letters.ts";
import type { DeadLetterSource } from "../../../domain/recovery/dead-letter.ts";
import type { Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { type WorkQueue, workQueues } from "../status/work-queues.ts";

/** Visibility time-out in seconds: if a command is killed, its messages reappear after it. */
const hiddenInSeconds = 300;

/**
 * Polls for dead letters that another reader has received; a list, an erasure and the archiver release them
 * in seconds.
 */
const looks = { most: 4, secondsBetween: 2 };

/** The queue that a command names. @throws CommandError naming the existing ones */
export function namedQueue({ deployment }: Operation, name: string): WorkQueue {
  const queues = workQueues(deployment);
  const found = queues.find((queue) => queue.name === name);
  if (found !== undefined) return found;
  const names = queues.map((queue) => queue.name).join(", ");
  throw CommandError.usage(`No queue ${JSON.stringify(name)}. Write one of: ${names}.`);
}

export function deadLettersOf({ clients }: Operation, { deadLetterQueueUrl }: WorkQueue): DeadLetterSource {
  return queueDeadLetters(clients.sqs, deadLetterQueueUrl, () => hiddenInSeconds);
}

/** Reads dead letters to delete or send; polls while another reader has received all of them. */
export function deadLettersGivenBack(
  { clients, terminal }: Pick<Operation, "clients" | "terminal">,
  { deadLetterQueueUrl: url }: Pick<WorkQueue, "deadLetterQueueUrl">,
): DeadLetterSource {
  const source = queueDeadLetters(clients.sqs, url, () => hiddenInSeconds, mayHoldOthers(clients.sqs, url));
  return async (look) => {
    for (let done = 1; ; done += 1) {
      let isSeen = false;
      const seen = await source((deadLetters) => {
        isSeen = true;
        return look(deadLetters);
      });
      if (isSeen || !seen.mayHaveMore || done === looks.most) return seen;
      await terminal.wait(looks.secondsBetween, "Another reader holds the dead letters");
    }
  };
}

/** Throws at the end if S3 refuses some objects. */
export function archivedDeadLettersOf(
  { clients, deployment }: Operation,
  { name }: WorkQueue,
): DeadLetterSource {
  const source = deadLetterArchive(clients.s3, deployment.output("ArchiveBucketName")).source(name);
  return async (look) => {
    const seen = await source(look);
    if (seen.refused === undefined || seen.refused === 0) return seen;
    throw CommandError.failed(
      `S3 refuses ${seen.refused} archived dead letters of ${name}: you may not read them, or not use their key. Check the key: npx income-events doctor`,
    );
  };
}
