import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { deadLetterArchive } from "../../../adapters/sqs/dead-letter-archive.ts";
import { type QueueDepth, queueDepth } from "../../../adapters/sqs/queue-metrics.ts";
import { sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import {
  contentOfDeadLetter,
  type DeadLetter,
  endOf,
  readRedriveCount,
} from "../../../domain/recovery/dead-letter.ts";
import { audited } from "../core/audited.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { shownJson } from "../core/shown-json.ts";
import { tableText } from "../core/table.ts";
import { commandLine, counted, fromNow, oneLine, printableJson } from "../core/text.ts";
import {
  archivedDeadLettersOf,
  deadLettersGivenBack,
  deadLettersOf,
  namedQueue,
} from "../dead-letters/queues.ts";
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
  deadLetterText,
  isSelected,
  type NextStep,
  nextStepOf,
  nextStepText,
  reasonFlag,
  reasonOf,
  type Selection,
} from "../dead-letters/selection.ts";
import { type WorkQueue, workQueues } from "../status/work-queues.ts";

/** Maximum dead letters to read from one queue. */
const maxRead = 1_000;
const maxReasons = 3;

type Flags = Selection & { readonly limit?: string; readonly archive?: boolean; readonly reveal?: boolean };

export function addTo(program: Command): void {
  const group = program
    .command("dlq")
    .description("Shows, redrives and purges dead letters: messages that failed.");
  addCommand<Pick<Selection, "reason">>(group, {
    name: "list",
    summary: "Lists the dead letters of each queue: count, oldest, expiry of the oldest, reasons.",
    examples: [
      "npx income-events dlq list",
      "npx income-events dlq list --reason status_updated    only reasons with this text",
      "npx income-events dlq list --stage prod --outputs outputs.json --json",
    ],
    run: listDeadLetters,
  }).option("--reason <text>", reasonFlag);
  const show = addCommand<Flags>(group, {
    name: "show <queue>",
    summary: "Shows dead letters of a queue without removing them. Bodies are masked.",
    examples: [
      "npx income-events dlq show users",
      "npx income-events dlq show fetch --reason 422 --limit 3 --reveal",
      "npx income-events dlq show subscriber/everything --archive",
    ],
    run: showDeadLetters,
  });
  addSelection(show, "10")
    .option("--archive", "from the archive instead of the queue")
    .option("--reveal", "show the bodies unmasked, with personal data");
  const redriving = addCommand<Flags>(group, {
    name: "redrive <queue>",
    summary: "Sends dead letters back to their queue, each once. Events are mapped again; tasks start over.",
    examples: [
      "npx income-events dlq redrive users",
      "npx income-events dlq redrive fetch --reason 422 --limit 1    try one first",
      "npx income-events dlq redrive users --archive    from the archive",
    ],
    run: (operation, flags, name = "") => redriveQueue(operation, flags, { name }),
  });
  addSelection(redriving).option("--archive", "from the archive instead of the queue");
  const purge = addCommand<Flags>(group, {
    name: "purge <queue>",
    summary: "Deletes dead letters of a queue permanently, after asking.",
    asks: true,
    examples: [
      "npx income-events dlq purge users --reason 'not JSON'",
      "npx income-events dlq purge subscriber/everything --id 1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed",
    ],
    run: (operation, flags, name = "") => purgeQueue(operation, flags, { name }),
  });
  addSelection(purge);
}

export async function listDeadLetters(
  operation: Operation,
  flags: Pick<Selection, "reason"> = {},
): Promise<void> {
  const { deployment, terminal } = operation;
  checkSelection(flags);
  const queues = await Promise.all(workQueues(deployment).map((queue) => describe(operation, queue, flags)));
  const now = new Date();
  const rows = queues.map(({ queue, deadLetters, oldest, endsAt, archived, reasons }) => [
    queue,
    deadLetters,
    oldest && fromNow(new Date(oldest), now),
    endsAt && fromNow(new Date(endsAt), now),
    archived,
    reasonsText(reasons),
  ]);
  const partly = queues.filter(({ read }) => read >= maxRead).map(({ queue }) => queue);
  if (partly.length > 0)
    terminal.progress(
      `Of ${partly.join(", ")} the ages and reasons are those of ${maxRead} dead letters only.`,
    );
  terminal.result(
    { stage: deployment.stage, queues },
    tableText(["QUEUE", "DEAD LETTERS", "OLDEST", "FIRST EXPIRES", "ARCHIVED", "REASONS"], rows),
  );
}

export type QueueSummary = Awaited<ReturnType<typeof describe>>;

/**
 * Describes a queue by about `maxRead` dead letters, and leaves them there. If it has more, age and reasons are those of
 * the ones that were read.
 */
async function describe(operation: Operation, work: WorkQueue, selection: Pick<Selection, "reason">) {
  const { deployment, clients } = operation;
  const depth = await queueDepth(clients.sqs, work.deadLetterQueueUrl);
  const counts = new Map<string, number>();
  let [read, selected] = [0, 0];
  let oldest: Date | undefined;
  const source = deadLettersOf(operation, work);
  await source(async (deadLetters) => {
    for (const deadLetter of deadLetters.filter((each) => isSelected(each, selection))) {
      selected += 1;
      const reason = reasonOf(deadLetter);
      counts.set(reason, (counts.get(reason) ?? 0) + 1);
      if (oldest === undefined || deadLetter.sentAt < oldest) oldest = deadLetter.sentAt;
    }
    read += deadLetters.length;
    return { done: [], isEnough: read >= maxRead };
  });
  const reasons = [...counts].map(([reason, count]) => ({ reason, count }));
  return {
    queue: work.name,
    // SQS's count may lag behind what was just received, and has no reasons.
    deadLetters: selection.reason === undefined ? Math.max(read, depth.waiting + depth.inFlight) : selected,
    read,
    /** Invisible messages, which another reader has received. */
    inFlight: depth.inFlight,
    ...datesOf(oldest, depth.retentionSeconds),
    reasons: reasons.toSorted((one, other) => other.count - one.count),
    archived: await deadLetterArchive(clients.s3, deployment.output("ArchiveBucketName")).count(work.name),
  };
}

function datesOf(oldest: Date | undefined, retentionSeconds: number) {
  if (oldest === undefined) return {};
  const endsAt = endOf({ sentAt: oldest }, retentionSeconds).toISOString();
  return { oldest: oldest.toISOString(), endsAt };
}

function reasonsText(
  reasons: readonly { readonly reason: string; readonly count: number }[],
): string | undefined {
  if (reasons.length === 0) return undefined;
  const reported = reasons.slice(0, maxReasons).map(({ reason, count }) => `${reason} (${count})`);
  const rest = reasons.length - reported.length;
  return [...reported, ...(rest > 0 ? [`${rest} more`] : [])].join("; ");
}

export async function showDeadLetters(operation: Operation, flags: Flags, name = ""): Promise<void> {
  const { deployment, clients, terminal } = operation;
  const limit = checkSelection(flags);
  const queue = namedQueue(operation, name);
  const { retentionSeconds } = await queueDepth(clients.sqs, queue.deadLetterQueueUrl);
  const deadLetters: DeadLetter[] = [];
  const source =
    flags.archive === true ? archivedDeadLettersOf(operation, queue) : deadLettersGivenBack(operation, queue);
  const { mayHaveMore } = await source(async (seen) => {
    deadLetters.push(
      ...seen.filter((deadLetter) => isSelected(deadLetter, flags)).slice(0, limit - deadLetters.length),
    );
    return { done: [], isEnough: deadLetters.length === limit };
  });
  if (mayHaveMore && deadLetters.length < limit)
    terminal.progress(`Another reader holds dead letters of ${queue.name} too: ask again in a minute.`);
  checkFound(flags, deadLetters.length, queue.name);
  const overflow = overflowBucket(deployment.output("OverflowBucketName"), clients.s3);
  const described = await Promise.all(
    deadLetters.map(async (deadLetter) => ({
      ...describeOne(deadLetter, await deadLetterText(deadLetter, overflow), flags.reveal ?? false),
      next: nextStepOf(queue.name, deadLetter),
      // Archived dead letters outlive their queue's retention.
      ...(flags.archive !== true && { endsAt: endOf(deadLetter, retentionSeconds).toISOString() }),
    })),
  );
  if (flags.reveal === true && described.length > 0) {
    const act = { act: "reveal", target: `dead letters of ${queue.name}` } as const;
    await audited(operation, act, async () => described.length);
  }
  const now = new Date();
  terminal.result(
    { stage: deployment.stage, queue: name, deadLetters: described },
    described.length === 0
      ? "No dead letters found."
      : described.map((deadLetter) => textOf(deadLetter, queue.name, now)).join("\n\n"),
  );
}

function describeOne(deadLetter: DeadLetter, text: string, reveal: boolean) {
  const { messageId, sentAt, returns } = deadLetter;
  const { what, id } = contentOfDeadLetter(deadLetter.body);
  return {
    messageId,
    what,
    ...(id !== undefined && { id }),
    reason: reasonOf(deadLetter),
    sentAt: sentAt.toISOString(),
    returns: readRedriveCount(returns).count,
    payload: shownJson(text, { reveal, ids: [id], isMessage: true }),
  };
}

export type ShownDeadLetter = ReturnType<typeof describeOne> & {
  readonly next: NextStep;
  readonly endsAt?: string;
};

function textOf(deadLetter: ShownDeadLetter, queue: string, now: Date): string {
  const { messageId, what, id, reason, sentAt, endsAt, returns, payload, next } = deadLetter;
  const facts = [
    `sent ${fromNow(new Date(sentAt), now)}`,
    ...(endsAt === undefined ? [] : [`expires ${fromNow(new Date(endsAt), now)}`]),
    ...(returns === 0 ? [] : [`redriven ${times(returns)}`]),
  ];
  return [
    oneLine(`${messageId}  ${what}${id === undefined ? "" : `  ${id}`}`),
    `  ${oneLine(reason)}`,
    `  ${facts.join(", ")}`,
    `  ${printableJson(payload)}`,
    `  next: ${nextStepText(next, queue, messageId)}`,
  ].join("\n");
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}

/** @param work names the queue and receives each dead letter's outcome */
export async function redriveQueue(
  operation: Operation,
  flags: Flags,
  { name, onEach }: { readonly name: string; readonly onEach?: OnEach },
): Promise<void> {
  const { deployment, clients, terminal } = operation;
  const limit = checkSelection(flags);
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
    onProgress: (count) => terminal.step(`Redriven: ${count}`),
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
    redrivenText(name, result, inFlight),
  );
  const [first] = result.failed;
  if (first === undefined) return;
  throw CommandError.failed(
    `Not sent: ${counted(result.failed.length, "dead letter")} (${first.reason}). They stay in their queue. ${commandLine`Try again: npx income-events dlq redrive ${queue.name}`}`,
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

function redrivenText(
  queue: string,
  { redriven, left, again, failed, twice }: Redriven,
  inFlight: number,
): string {
  const ofThose = [
    ...(again > 0 ? [`failed again: ${again}`] : []),
    ...(failed.length > 0 ? [`could not be sent: ${failed.length}`] : []),
  ];
  return [
    `Sent ${counted(redriven, "dead letter")} to the queue of ${queue}. Left in place: ${left}` +
      (ofThose.length === 0 ? "." : ` (${ofThose.join(", ")}).`),
    ...(twice > 0 ? [`Sent, but not deleted: ${twice}. They will arrive twice.`] : []),
    ...(inFlight > 0 ? [`Held by another reader: ${inFlight}. Run the command again in some minutes.`] : []),
  ].join("\n");
}

/** @param work names the queue and receives each dead letter's outcome */
export async function purgeQueue(
  operation: Operation,
  flags: Flags,
  { name, onEach }: { readonly name: string; readonly onEach?: OnEach },
): Promise<void> {
  const { deployment, terminal } = operation;
  const limit = checkSelection(flags);
  const queue = namedQueue(operation, name);
  const source = deadLettersGivenBack(operation, queue);
  const shown = new Map<string, string>();
  const isWanted = (deadLetter: DeadLetter) => {
    const isOne = isSelected(deadLetter, flags);
    if (isOne) shown.set(deadLetter.messageId, lineOf(deadLetter));
    return isOne;
  };
  const ids = await findDeadLetters(source, isWanted, limit);
  checkFound(flags, ids.size, queue.name);
  if (ids.size > 0) await terminal.confirm(consequence(queue, [...shown.values()]));
  const act = { act: "purge", target: queue.name } as const;
  const purged =
    ids.size === 0 ? 0 : await audited(operation, act, () => purgeDeadLetters(source, ids, onEach));
  const gone = ids.size - purged;
  terminal.result(
    { stage: deployment.stage, queue: name, purged, notFound: gone },
    `Deleted ${counted(purged, "dead letter")} of ${name}.` +
      (gone === 0 ? "" : ` Not there any more, or in the hands of another reader: ${gone}.`),
  );
}

const maxShown = 10;

/** @param deadLetters one line for each */
function consequence(queue: WorkQueue, deadLetters: readonly string[]): string {
  const more = deadLetters.length - maxShown;
  const all = commandLine`npx income-events dlq show ${queue.name} --limit ${deadLetters.length}`;
  return [
    `This deletes ${counted(deadLetters.length, "dead letter")} of ${queue.name} permanently, before they are archived. ${lossOf(queue)}`,
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
