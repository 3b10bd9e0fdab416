import type { Command } from "commander";
import { addCommand } from "../core/command.ts";
import { fromNow } from "../core/spans.ts";
import { tableText } from "../core/table.ts";
import { queueStatuses } from "../status/queue-status.ts";
import { ageText } from "../status/status-text.ts";
import { subscriberQueues } from "../status/work-queues.ts";

const head = [
  "subscriber",
  "gets",
  "waiting",
  "in flight",
  "oldest",
  "dead letters",
  "oldest dead",
  "last message",
];

export function addSubscribersList(group: Command): void {
  addCommand(
    group,
    {
      name: "list",
      summary: "Shows who gets what, and how far behind each is.",
      examples: [
        "npx income-events subscribers list",
        "npx income-events subscribers list --stage prod --outputs outputs.json --json",
      ],
    },
    async ({ deployment, clients, terminal }) => {
      const now = new Date();
      const subscribers = subscriberQueues(deployment);
      const statuses = await queueStatuses(subscribers, clients, () => now);
      const all = subscribers.map(({ types, queueUrl, deadLetterQueueUrl }, index) => ({
        ...statuses[index],
        ...(types && { types }),
        queueUrl,
        deadLetterQueueUrl,
      }));
      const rows = statuses.map((status, index) => [
        status.name,
        subscribers[index]?.types?.join(", ") ?? "everything",
        status.waiting,
        status.inFlight,
        ageText(status.waiting + status.inFlight, status.oldestSeconds),
        status.deadLetters,
        ageText(status.deadLetters, status.oldestDeadLetterSeconds),
        status.lastSentAt && fromNow(new Date(status.lastSentAt), now),
      ]);
      terminal.result({ stage: deployment.stage, subscribers: all }, tableText(head, rows));
    },
  );
}
