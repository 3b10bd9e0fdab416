import type { Command } from "commander";
import type { DeadLetter } from "../../../domain/recovery/dead-letter.ts";
import { contentOfDeadLetter } from "../../../domain/recovery/dead-letter-content.ts";
import { audited } from "../core/audited.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { countFlag } from "../core/flags.ts";
import { oneLine } from "../core/printable.ts";
import { findDeadLetters, type OnEach, purgeDeadLetters } from "../dead-letters/purge.ts";
import { deadLettersGivenBack, namedQueue } from "../dead-letters/queues.ts";
import {
  addSelection,
  checkFound,
  checkSelection,
  deadLettersText,
  isSelected,
  reasonOf,
  type Selection,
} from "../dead-letters/selection.ts";
import type { WorkQueue } from "../status/work-queues.ts";

type Flags = Selection & { readonly limit?: string };

export function addTo(group: Command): void {
  addSelection(
    addCommand<Flags>(group, {
      name: "purge <queue>",
      summary: "Deletes dead letters of a queue for good, after asking.",
      asks: true,
      examples: [
        "npx income-events dlq purge users --reason 'not JSON'",
        "npx income-events dlq purge subscriber/everything --id 1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed",
      ],
      run: (operation, flags, name = "") => purgeQueue(operation, flags, { name }),
    }),
  ).option("--limit <count>", "at most so many");
}

/** @param work names the queue, and takes what becomes of each dead letter */
export async function purgeQueue(
  operation: Operation,
  selection: Flags,
  { name, onEach }: { readonly name: string; readonly onEach?: OnEach },
): Promise<void> {
  const { deployment, terminal } = operation;
  const limit = selection.limit === undefined ? undefined : countFlag("--limit", selection.limit);
  checkSelection(selection);
  const queue = namedQueue(operation, name);
  const place = deadLettersGivenBack(operation, queue);
  const shown = new Map<string, string>();
  const isWanted = (deadLetter: DeadLetter) => {
    const isOne = isSelected(deadLetter, selection);
    if (isOne) shown.set(deadLetter.messageId, lineOf(deadLetter));
    return isOne;
  };
  const ids = await findDeadLetters(place, isWanted, limit);
  checkFound(selection, ids.size, queue.name);
  if (ids.size > 0) await terminal.confirm(consequence(queue, [...shown.values()]));
  const act = { act: "purge", target: queue.name } as const;
  const purged =
    ids.size === 0 ? 0 : await audited(operation, act, () => purgeDeadLetters(place, ids, onEach));
  const gone = ids.size - purged;
  terminal.result(
    { stage: deployment.stage, queue: name, purged, notFound: gone },
    `Deleted ${deadLettersText(purged)} of ${name}.` +
      (gone === 0 ? "" : ` Not there any more, or in the hands of another reader: ${gone}.`),
  );
}

const maxShown = 10;

/** @param deadLetters a line each */
function consequence(queue: WorkQueue, deadLetters: readonly string[]): string {
  const more = deadLetters.length - maxShown;
  return [
    `This deletes ${deadLettersText(deadLetters.length)} of ${queue.name} for good, before any archive. ${lossOf(queue)}`,
    ...deadLetters.slice(0, maxShown),
    ...(more > 0 ? [`  and ${more} more: dlq show ${queue.name} --limit ${deadLetters.length}`] : []),
  ].join("\n");
}

function lineOf(deadLetter: DeadLetter): string {
  const { what, id } = contentOfDeadLetter(deadLetter.body);
  const words = [deadLetter.messageId, what, ...(id === undefined ? [] : [id]), reasonOf(deadLetter)];
  return oneLine(`  ${words.join("  ")}`);
}

function lossOf({ name }: WorkQueue): string {
  if (name.startsWith("subscriber/"))
    return "They can be published again while their events are kept: see replay.";
  if (name === "fetch")
    return "What they were to fetch stays as it is, until an event or the reconciliation asks again.";
  return "They are authenticated and were never stored: the provider does not send them again, and nothing else has them.";
}
