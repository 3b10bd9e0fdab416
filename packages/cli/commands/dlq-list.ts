import type { Command } from "commander";
import { deadLetterArchive } from "../../../adapters/sqs/dead-letter-archive.ts";
import { queueDepth } from "../../../adapters/sqs/queue-depth.ts";
import { type DeadLetterPlace, endOf } from "../../../domain/recovery/dead-letter.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { fromNow } from "../core/spans.ts";
import { tableText } from "../core/table.ts";
import { deadLettersOf } from "../dead-letters/queues.ts";
import { reasonOf } from "../dead-letters/selection.ts";
import { type WorkQueue, workQueues } from "../status/work-queues.ts";

/** Of a queue with more dead letters than this only so many are looked at. */
const maxRead = 1_000;
const maxReasons = 3;

export function addTo(group: Command): void {
  addCommand(group, {
    name: "list",
    summary:
      "Lists the dead letters of each queue: how many, since when, when SQS would drop the first, and why.",
    examples: [
      "npx income-events dlq list",
      "npx income-events dlq list --stage prod --outputs outputs.json --json",
    ],
    run: listDeadLetters,
  });
}

export async function listDeadLetters(operation: Operation): Promise<void> {
  const { deployment, terminal } = operation;
  const queues = await Promise.all(workQueues(deployment).map((queue) => describe(operation, queue)));
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

async function describe(operation: Operation, work: WorkQueue) {
  const { deployment, clients } = operation;
  const depth = await queueDepth(clients.sqs, work.deadLetterQueueUrl);
  const { read, oldest, reasons } = await summarize(deadLettersOf(operation, work), maxRead);
  return {
    queue: work.name,
    // What SQS counts can be behind what was just seen.
    deadLetters: Math.max(read, depth.waiting + depth.inFlight),
    read,
    /** In the hands of another reader, which says why they lie there. */
    inFlight: depth.inFlight,
    ...(oldest && {
      oldest: oldest.toISOString(),
      endsAt: endOf({ sentAt: oldest }, depth.retentionSeconds).toISOString(),
    }),
    reasons,
    archived: await deadLetterArchive(clients.s3, deployment.output("ArchiveBucketName")).count(work.name),
  };
}

function reasonsText(
  reasons: readonly { readonly reason: string; readonly count: number }[],
): string | undefined {
  if (reasons.length === 0) return undefined;
  const reported = reasons.slice(0, maxReasons).map(({ reason, count }) => `${reason} (${count})`);
  const rest = reasons.length - reported.length;
  return [...reported, ...(rest > 0 ? [`${rest} more`] : [])].join("; ");
}

type Summary = {
  /** So many dead letters were looked at; of a queue with more the figures are of these. */
  readonly read: number;
  readonly oldest?: Date;
  /** The most frequent first. */
  readonly reasons: readonly { readonly reason: string; readonly count: number }[];
};

/** Looks at the dead letters of a place, at about `most` of them, and leaves them there. */
async function summarize(place: DeadLetterPlace, most: number): Promise<Summary> {
  const counts = new Map<string, number>();
  let read = 0;
  let oldest: Date | undefined;
  await place(async (deadLetters) => {
    for (const deadLetter of deadLetters) {
      const reason = reasonOf(deadLetter);
      counts.set(reason, (counts.get(reason) ?? 0) + 1);
      if (oldest === undefined || deadLetter.sentAt < oldest) oldest = deadLetter.sentAt;
    }
    read += deadLetters.length;
    return { done: [], isEnough: read >= most };
  });
  const reasons = [...counts].map(([reason, count]) => ({ reason, count }));
  return { read, ...(oldest && { oldest }), reasons: reasons.toSorted((a, b) => b.count - a.count) };
}
