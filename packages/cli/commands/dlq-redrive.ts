import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import { type QueueDepth, queueDepth } from "../../../adapters/sqs/queue-metrics.ts";
import { sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import { contentOfDeadLetter, type DeadLetter } from "../../../domain/recovery/dead-letter.ts";
import { audited } from "../core/audited.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { countFlag } from "../core/flags.ts";
import { milestones } from "../core/pace.ts";
import { commandLine, oneLine } from "../core/text.ts";
import { archivedDeadLettersOf, deadLettersGivenBack, namedQueue } from "../dead-letters/queues.ts";
import {
  findDeadLetters,
  type OnEach,
  purgeDeadLetters,
  type Redriven,
  type RedrivePorts,
  redrive,
  taskOrder,
} from "../dead-letters/redrive.ts";
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

type Flags = Selection & { readonly limit?: string; readonly archive?: boolean };

/** Dead letters between two lines of progress. */
const deadLettersPerLine = 500;

export function addTo(group: Command): void {
  const command = addCommand<Flags>(group, {
    name: "redrive <queue>",
    summary: "Sends dead letters back to their queue, each once. Events are mapped again; tasks start over.",
    examples: [
      "npx income-events dlq redrive users",
      "npx income-events dlq redrive fetch --reason 422 --limit 1    try one first",
      "npx income-events dlq redrive users --archive    from the archive",
    ],
    run: (operation, flags, name = "") => redriveQueue(operation, flags, { name }),
  });
  addSelection(command)
    .option("--limit <count>", "maximum number")
    .option("--archive", "from the archive instead of the queue");
  addPurge(group);
}

/** @param work names the queue and receives each dead letter's outcome */
export async function redriveQueue(
  operation: Operation,
  flags: Flags,
  { name, onEach }: { readonly name: string; readonly onEach?: OnEach },
): Promise<void> {
  const { deployment, clients, terminal } = operation;
  const limit = flags.limit === undefined ? Number.POSITIVE_INFINITY : countFlag("--limit", flags.limit);
  checkSelection(flags);
  const queue = namedQueue(operation, name);
  const fromArchive = flags.archive === true;
  const before = fromArchive
    ? { waiting: 0, inFlight: 0 }
    : await queueDepth(clients.sqs, queue.deadLetterQueueUrl);
  const ports: RedrivePorts = {
    source: fromArchive ? archivedDeadLettersOf(operation, queue) : deadLettersGivenBack(operation, queue),
    isWanted: (deadLetter) => isSelected(deadLetter, flags),
    send: sqsSender(clients.sqs),
    queueUrl: queue.queueUrl,
    orderOf: name === "fetch" ? taskOrder : () => ({}),
    run: randomUUID(),
    limit,
    onProgress: milestones(deadLettersPerLine, (count) => terminal.progress(`Redriven: ${count}`)),
    ...(onEach && { onEach }),
  };
  const act = { act: "redrive", target: queue.name } as const;
  const result = await audited(
    operation,
    act,
    () => redrive(ports),
    ({ redriven }) => redriven,
  );
  checkFound(flags, result.redriven + result.failed.length + result.again, queue.name);
  const inFlight = heldStill(before, result);
  terminal.result(
    { stage: deployment.stage, queue: name, ...result, inFlight },
    textOf(name, result, inFlight),
  );
  const [first] = result.failed;
  if (first === undefined) return;
  throw CommandError.failed(
    `Not sent: ${deadLettersText(result.failed.length)} (${first.reason}). They stay in their queue. ${commandLine`Try again: npx income-events dlq redrive ${queue.name}`}`,
  );
}

/**
 * The number of messages that another reader still has.
 * @param before waiting and invisible messages before the run
 */
function heldStill(
  before: Pick<QueueDepth, "waiting" | "inFlight">,
  { redriven, left, again }: Redriven,
): number {
  const unseen = before.waiting + before.inFlight - (redriven + left - again);
  return Math.min(before.inFlight, Math.max(0, unseen));
}

function textOf(queue: string, { redriven, left, again, failed, twice }: Redriven, inFlight: number): string {
  const ofThose = [
    ...(again > 0 ? [`failed again: ${again}`] : []),
    ...(failed.length > 0 ? [`could not be sent: ${failed.length}`] : []),
  ];
  return [
    `Sent ${deadLettersText(redriven)} to the queue of ${queue}. Left in place: ${left}` +
      (ofThose.length === 0 ? "." : ` (${ofThose.join(", ")}).`),
    ...(twice > 0 ? [`Sent, but not deleted: ${twice}. They will arrive twice.`] : []),
    ...(inFlight > 0 ? [`Held by another reader: ${inFlight}. Run the command again in some minutes.`] : []),
  ].join("\n");
}

type PurgeFlags = Selection & { readonly limit?: string };

function addPurge(group: Command): void {
  addSelection(
    addCommand<PurgeFlags>(group, {
      name: "purge <queue>",
      summary: "Deletes dead letters of a queue permanently, after asking.",
      asks: true,
      examples: [
        "npx income-events dlq purge users --reason 'not JSON'",
        "npx income-events dlq purge subscriber/everything --id 1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed",
      ],
      run: (operation, flags, name = "") => purgeQueue(operation, flags, { name }),
    }),
  ).option("--limit <count>", "maximum number");
}

/** @param work names the queue and receives each dead letter's outcome */
export async function purgeQueue(
  operation: Operation,
  selection: PurgeFlags,
  { name, onEach }: { readonly name: string; readonly onEach?: OnEach },
): Promise<void> {
  const { deployment, terminal } = operation;
  const limit = selection.limit === undefined ? undefined : countFlag("--limit", selection.limit);
  checkSelection(selection);
  const queue = namedQueue(operation, name);
  const source = deadLettersGivenBack(operation, queue);
  const shown = new Map<string, string>();
  const isWanted = (deadLetter: DeadLetter) => {
    const isOne = isSelected(deadLetter, selection);
    if (isOne) shown.set(deadLetter.messageId, lineOf(deadLetter));
    return isOne;
  };
  const ids = await findDeadLetters(source, isWanted, limit);
  checkFound(selection, ids.size, queue.name);
  if (ids.size > 0) await terminal.confirm(consequence(queue, [...shown.values()]));
  const act = { act: "purge", target: queue.name } as const;
  const purged =
    ids.size === 0 ? 0 : await audited(operation, act, () => purgeDeadLetters(source, ids, onEach));
  const gone = ids.size - purged;
  terminal.result(
    { stage: deployment.stage, queue: name, purged, notFound: gone },
    `Deleted ${deadLettersText(purged)} of ${name}.` +
      (gone === 0 ? "" : ` Not there any more, or in the hands of another reader: ${gone}.`),
  );
}

const maxShown = 10;

/** @param deadLetters one line for each */
function consequence(queue: WorkQueue, deadLetters: readonly string[]): string {
  const more = deadLetters.length - maxShown;
  const all = commandLine`npx income-events dlq show ${queue.name} --limit ${deadLetters.length}`;
  return [
    `This deletes ${deadLettersText(deadLetters.length)} of ${queue.name} permanently, before they are archived. ${lossOf(queue)}`,
    ...deadLetters.slice(0, maxShown),
    ...(more > 0 ? [`  and ${more} more: ${all}`] : []),
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
