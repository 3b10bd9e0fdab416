import type { Command } from "commander";
import { audited } from "../core/audited.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { deadLettersText } from "../dead-letters/count.ts";
import { findDeadLetters, purgeDeadLetters } from "../dead-letters/purge.ts";
import { deadLettersOf, namedQueue } from "../dead-letters/queues.ts";
import {
  addSelection,
  checkFound,
  checkSelection,
  isSelected,
  type Selection,
} from "../dead-letters/selection.ts";
import type { WorkQueue } from "../status/work-queues.ts";

export function addDlqPurge(group: Command): void {
  addSelection(
    addCommand<Selection>(
      group,
      {
        name: "purge <queue>",
        summary: "Deletes dead letters of a queue for good, after asking.",
        asks: true,
        examples: [
          "npx income-events dlq purge users --reason 'not JSON'",
          "npx income-events dlq purge subscriber/everything --id 1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed",
        ],
      },
      purge,
    ),
  );
}

async function purge(operation: Operation, selection: Selection, name = ""): Promise<void> {
  const { deployment, terminal } = operation;
  checkSelection(selection);
  const queue = namedQueue(operation, name);
  const place = deadLettersOf(operation, queue);
  const ids = await findDeadLetters(place, (deadLetter) => isSelected(deadLetter, selection));
  checkFound(selection, ids.size, queue.name);
  if (ids.size > 0) await terminal.confirm(consequence(queue, ids.size));
  const act = { act: "purge", target: queue.name } as const;
  const purged =
    ids.size === 0
      ? 0
      : await audited(
          operation,
          act,
          () => purgeDeadLetters(place, ids),
          (count) => count,
        );
  const gone = ids.size - purged;
  terminal.result(
    { stage: deployment.stage, queue: name, purged, notFound: gone },
    `Deleted ${deadLettersText(purged)} of ${name}.` +
      (gone === 0 ? "" : ` Not there any more, or in the hands of another reader: ${gone}.`),
  );
}

function consequence(queue: WorkQueue, count: number): string {
  return `This deletes ${deadLettersText(count)} of ${queue.name} for good, before any archive. ${lossOf(queue)}`;
}

function lossOf({ name }: WorkQueue): string {
  if (name.startsWith("subscriber/"))
    return "They can be published again while their events are kept: see replay.";
  if (name === "fetch")
    return "What they were to fetch stays as it is, until an event or the reconciliation asks again.";
  return "They are authenticated and were never stored: the provider does not send them again, and nothing else has them.";
}
