import { type QueueDepth, queueDepth } from "../../../adapters/sqs/queue-metrics.ts";
import { present } from "../../../domain/core/parse.ts";
import { type IncomeEvent, isWebhookKind } from "../../../domain/event/events.ts";
import { nameOf, subjectOf } from "../../../domain/event/subjects.ts";
import { wants } from "../../../domain/message/message.ts";
import {
  contentOfDeadLetter,
  type DeadLetterContent,
  type DeadLetterSource,
} from "../../../domain/recovery/dead-letter.ts";
import type { Operation } from "../core/command.ts";
import { deadLettersOf } from "../dead-letters/queues.ts";
import { subscriberQueues, type WorkQueue, workQueues } from "../status/work-queues.ts";

export type EventDeadLetter = {
  readonly queue: string;
  /** The type of message: `users event`, `read task`, or a message's type. */
  readonly what: string;
  readonly id?: string;
  readonly reason?: string;
  readonly sentAt: string;
};

export type DeadLetterPorts = {
  readonly queues: readonly WorkQueue[];
  readonly depthOf: (queue: WorkQueue) => Promise<Pick<QueueDepth, "waiting">>;
  readonly sourceOf: (queue: WorkQueue) => DeadLetterSource;
  readonly report: (text: string) => void;
};

/** Maximum dead letters to read from each queue. */
const maxLookedAt = 1_000;

/**
 * The queues that can contain dead letters of an event: its kind's, the fetch queue's, and those of
 * subscribers of its type.
 */
export function deadLetterPortsFor(operation: Operation, event: IncomeEvent | undefined): DeadLetterPorts {
  const { deployment, clients, terminal } = operation;
  const getters = subscriberQueues(deployment)
    .filter((subscriber) => event !== undefined && wants(subscriber, event.type))
    .map(({ name }) => `subscriber/${name}`);
  const names = event === undefined ? [] : [event.kind, "fetch", ...getters];
  return {
    // An event that was not stored has no consequences.
    queues: workQueues(deployment).filter(({ name }) =>
      event === undefined ? isWebhookKind(name) : names.includes(name),
    ),
    depthOf: ({ deadLetterQueueUrl }) => queueDepth(clients.sqs, deadLetterQueueUrl),
    sourceOf: (queue) => deadLettersOf(operation, queue),
    report: terminal.progress,
  };
}

/** Dead letters of a stored event: the event, its message, or a task for its subject. */
export function deadLettersOfEvent(
  event: IncomeEvent,
  ports: DeadLetterPorts,
): Promise<readonly EventDeadLetter[]> {
  const subject = nameOf(subjectOf(event));
  return search(({ id, what }) => id === event.id || (what.endsWith(" task") && id === subject), ports);
}

/** Dead letters of events that could not be stored, by a prefix of their ids. */
export function deadLettersOfUnstored(
  begins: string,
  ports: DeadLetterPorts,
): Promise<readonly EventDeadLetter[]> {
  return search(({ id = "" }) => id.startsWith(begins), ports);
}

async function search(
  isWanted: (content: DeadLetterContent) => boolean,
  { queues, depthOf, sourceOf, report }: DeadLetterPorts,
): Promise<readonly EventDeadLetter[]> {
  const found: EventDeadLetter[] = [];
  for (const queue of queues) {
    if ((await depthOf(queue)).waiting === 0) continue;
    let lookedAt = 0;
    await sourceOf(queue)(async (deadLetters) => {
      lookedAt += deadLetters.length;
      for (const { body, reason, sentAt } of deadLetters) {
        const content = contentOfDeadLetter(body);
        if (!isWanted(content)) continue;
        const { what, id } = content;
        found.push({ queue: queue.name, what, sentAt: sentAt.toISOString(), ...present({ id, reason }) });
      }
      return { done: [], isEnough: lookedAt >= maxLookedAt };
    });
    if (lookedAt >= maxLookedAt)
      report(
        `Only ${lookedAt} dead letters of ${queue.name} were checked. List them: npx income-events dlq list`,
      );
  }
  return found;
}
