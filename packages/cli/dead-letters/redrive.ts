import { createHash } from "node:crypto";
import { hasRoomForAttributes, type Outgoing, type Send } from "../../../adapters/sqs/sqs-sender.ts";
import { deduplicationOf, groupOf, readTask } from "../../../domain/fetch/task.ts";
import {
  type DeadLetter,
  type DeadLetterSource,
  nextRedriveCount,
  readRedriveCount,
} from "../../../domain/recovery/dead-letter.ts";

export type RedrivePorts = {
  readonly source: DeadLetterSource;
  readonly isWanted: (deadLetter: DeadLetter) => boolean;
  readonly send: Send;
  readonly queueUrl: string;
  /** The group and deduplication id for a FIFO queue; neither for a standard queue. */
  readonly orderOf: (deadLetter: DeadLetter) => Pick<Outgoing, "group" | "deduplication">;
  /** Unique to this run. */
  readonly run: string;
  readonly limit: number;
  readonly onProgress: (redriven: number) => void;
  readonly onEach?: OnEach;
};

export type Redriven = {
  readonly redriven: number;
  /** Remaining in the dead-letter queue: not selected, not sent, or failed again. */
  readonly left: number;
  /** Of the remaining ones, those that this run sent and that failed again meanwhile. */
  readonly again: number;
  readonly failed: readonly { readonly messageId: string; readonly reason: string }[];
  /** Sent but not deleted, so they are processed twice. */
  readonly twice: number;
};

/**
 * Sends dead letters to their source queue, then deletes them. If it is killed in between, one is sent twice
 * and none is lost. A run sends each dead letter once, even if it fails again immediately, because the
 * message carries the run's name.
 */
export async function redrive(ports: RedrivePorts): Promise<Redriven> {
  const { source, isWanted, send, queueUrl, orderOf, run, limit, onProgress, onEach } = ports;
  const failed: { messageId: string; reason: string }[] = [];
  const unmarked = new Set<string>();
  const seen = { redriven: 0, left: 0, again: 0 };
  const isAgain = (deadLetter: DeadLetter) =>
    readRedriveCount(deadLetter.returns).run === run || unmarked.has(digestOf(deadLetter.body));
  const { notRemoved } = await source(async (deadLetters) => {
    const again = deadLetters.filter(isAgain);
    const wanted = deadLetters.filter((deadLetter) => !again.includes(deadLetter) && isWanted(deadLetter));
    const chosen = wanted.slice(0, limit - seen.redriven - failed.length);
    const outgoing = chosen.map((deadLetter) => ({
      body: deadLetter.body,
      returns: nextRedriveCount(deadLetter.returns, run),
      ...orderOf(deadLetter),
    }));
    // Without room for the run's name, a dead letter is recognized by its body alone.
    for (const { body } of outgoing) if (!hasRoomForAttributes(body)) unmarked.add(digestOf(body));
    const failures = await send(queueUrl, outgoing);
    const done = chosen.filter((_, index) => failures[index] === undefined);
    for (const [index, { messageId }] of chosen.entries()) {
      const failure = failures[index];
      if (failure !== undefined) failed.push({ messageId, reason: failure.reason });
      const result = failure === undefined ? "sent to its queue" : `not sent, it stays: ${failure.reason}`;
      onEach?.({ id: messageId, result });
    }
    seen.redriven += done.length;
    seen.left += deadLetters.length - done.length;
    seen.again += again.length;
    onProgress(seen.redriven);
    return { done, isEnough: seen.redriven + failed.length >= limit };
  });
  return { ...seen, failed, twice: notRemoved };
}

function digestOf(body: string): string {
  return createHash("sha256").update(body).digest("base64");
}

/**
 * The task's group, and a deduplication id that is unique to the dead letter. With the task's own id, SQS
 * would drop the message as a duplicate if it was sent within five minutes.
 */
export function taskOrder({ body, messageId }: DeadLetter): Pick<Outgoing, "group" | "deduplication"> {
  try {
    const task = readTask(body);
    return { group: groupOf(task), deduplication: deduplicationOf(task, messageId) };
  } catch {
    // If it is not a valid task, the function decides.
    return { group: messageId, deduplication: messageId };
  }
}

export type EachResult = { readonly id: string; readonly result: string };

export type OnEach = (each: EachResult) => void;

/** The ids of at most `limit` matching dead letters, which stay in the queue. */
export async function findDeadLetters(
  source: DeadLetterSource,
  isWanted: (deadLetter: DeadLetter) => boolean,
  limit = Number.POSITIVE_INFINITY,
): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  await source(async (deadLetters) => {
    for (const deadLetter of deadLetters)
      if (ids.size < limit && isWanted(deadLetter)) ids.add(deadLetter.messageId);
    return { done: [], isEnough: ids.size >= limit };
  });
  return ids;
}

/** Deletes these dead letters, and none that arrived since. @returns how many were deleted */
export async function purgeDeadLetters(
  source: DeadLetterSource,
  ids: ReadonlySet<string>,
  onEach: OnEach = () => undefined,
): Promise<number> {
  let found = 0;
  const left = new Set(ids);
  const { notRemoved } = await source(async (deadLetters) => {
    const done = deadLetters.filter(({ messageId }) => ids.has(messageId));
    found += done.length;
    for (const { messageId: id } of done) {
      left.delete(id);
      onEach({ id, result: "deleted" });
    }
    return { done, isEnough: found === ids.size };
  });
  for (const id of left) onEach({ id, result: "not there any more, or in the hands of another reader" });
  return found - notRemoved;
}
