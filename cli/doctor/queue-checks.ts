import { queueMetrics } from "../../adapters/sqs/queue-metrics.ts";
import { spanText } from "../core/spans.ts";
import { type QueueStatus, queueStatuses } from "../status/queue-status.ts";
import { subscriberQueues, workQueues } from "../status/work-queues.ts";
import type { Check, Finding } from "./finding.ts";

export const deadLetterCheck: Check = {
  name: "dead letters",
  examine: async ({ deployment, clients, now }) =>
    (await queueStatuses(workQueues(deployment), clients, () => now)).flatMap(checkDeadLetterCount),
};

export function checkDeadLetterCount({
  name,
  deadLetters,
  oldestDeadLetterSeconds,
}: QueueStatus): readonly Finding[] {
  if (deadLetters === 0) return [];
  const age =
    oldestDeadLetterSeconds === undefined ? "" : `, the oldest for ${spanText(oldestDeadLetterSeconds)}`;
  return [
    {
      what: `${name} has ${deadLetters} dead ${deadLetters === 1 ? "letter" : "letters"}${age}.`,
      why: "Each is something received that could not be done. It waits for a person, and not for ever.",
      fix: `npx income-events dlq show ${name}`,
    },
  ];
}

export const readerCheck: Check = {
  name: "subscribers' readers",
  examine: async ({ deployment, clients, now }) => {
    const subscribers = subscriberQueues(deployment);
    const [statuses, asked] = await Promise.all([
      queueStatuses(subscribers, clients, () => now),
      queueMetrics(clients.cloudWatch, () => now).asked(subscribers.map(({ queueUrl }) => queueUrl)),
    ]);
    return statuses.flatMap((status, index) =>
      checkReader(status, asked.has(subscribers[index]?.queueUrl ?? "")),
    );
  },
};

/** Who reads at all asks at least so often. */
const longestSilenceInSeconds = 3_600;

/** @param isRead whether somebody asked for messages within the last hour */
export function checkReader(
  { name, waiting, oldestSeconds = 0, retentionSeconds }: QueueStatus,
  isRead: boolean,
): readonly Finding[] {
  const behind = `${waiting} messages wait, the oldest for ${spanText(oldestSeconds)}`;
  const fix = `start the reader of ${name}, and see how it catches up: npx income-events subscribers list`;
  const why = `What waits for ${spanText(retentionSeconds)} is deleted, and ${name} never gets it.`;
  if (waiting > 0 && !isRead && oldestSeconds >= longestSilenceInSeconds) {
    return [{ what: `Nobody reads the queue of ${name}: ${behind}.`, why, fix }];
  }
  if (waiting > 0 && oldestSeconds > retentionSeconds / 2) {
    return [{ what: `The reader of ${name} is far behind: ${behind}.`, why, fix }];
  }
  return [];
}
