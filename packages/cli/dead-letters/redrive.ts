import { createHash } from "node:crypto";
import { hasRoomForAttributes, type Outgoing, type Send } from "../../../adapters/sqs/sqs-sender.ts";
import { deduplicationOf, groupOf, readTask } from "../../../domain/fetch/task.ts";
import type { DeadLetter, DeadLetterSource } from "../../../domain/recovery/dead-letter.ts";
import { nextRedriveCount, readRedriveCount } from "../../../domain/recovery/redrive-count.ts";
import type { OnEach } from "./purge.ts";

export type RedrivePorts = {
  readonly source: DeadLetterSource;
  readonly isWanted: (deadLetter: DeadLetter) => boolean;
  readonly send: Send;
  /** The queue that the dead letters came from. */
  readonly queueUrl: string;
  /** The group and deduplication id for a FIFO queue; neither for a standard queue. */
  readonly orderOf: (deadLetter: DeadLetter) => Pick<Outgoing, "group" | "deduplication">;
  /** Names this run, and none before it. */
  readonly run: string;
  readonly limit: number;
  readonly onProgress: (redriven: number) => void;
  readonly onEach?: OnEach;
};

export type Redriven = {
  readonly redriven: number;
  /** Were seen and left where they lie: not wanted, not sent, or back again with their count. */
  readonly left: number;
  /** Of the remaining ones, those that this run sent and that failed again meanwhile. */
  readonly again: number;
  /** Of the remaining ones, those that could not be sent. */
  readonly failed: readonly { readonly messageId: string; readonly reason: string }[];
  /** Were sent, but still lie there: they will be processed twice. */
  readonly twice: number;
};

/**
 * Sends dead letters to the queue that they came from, then takes them away: killed in between, one is sent twice and
 * none is lost. A run sends each dead letter once, also where it fails at once and comes back: it carries the run's
 * name.
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
    // Without the run's name such a dead letter is known by its body alone.
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
 * The task's group, and a deduplication id that is unique to the dead letter. With the task's own id, SQS would drop
 * the message as a duplicate if it was sent within five minutes.
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
