import type { Command } from "commander";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { queueDepth } from "../../../adapters/sqs/queue-depth.ts";
import { type DeadLetter, endOf } from "../../../domain/recovery/dead-letter.ts";
import { contentOfDeadLetter } from "../../../domain/recovery/dead-letter-content.ts";
import { readRedriveCount } from "../../../domain/recovery/redrive-count.ts";
import { audited } from "../core/audited.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { countFlag } from "../core/flags.ts";
import { oneLine, printableJson } from "../core/printable.ts";
import { shownJson } from "../core/shown-json.ts";
import { fromNow } from "../core/spans.ts";
import { deadLetterText } from "../dead-letters/dead-letter-text.ts";
import { archivedDeadLettersOf, deadLettersGivenBack, namedQueue } from "../dead-letters/queues.ts";
import {
  addSelection,
  checkFound,
  checkSelection,
  isSelected,
  reasonOf,
  type Selection,
} from "../dead-letters/selection.ts";

type Flags = Selection & { readonly limit: string; readonly archive?: boolean; readonly reveal?: boolean };

export function addTo(group: Command): void {
  const command = addCommand<Flags>(group, {
    name: "show <queue>",
    summary: "Shows dead letters of a queue, and leaves them there. What they say is masked.",
    examples: [
      "npx income-events dlq show users",
      "npx income-events dlq show fetch --reason 422 --limit 3 --reveal",
      "npx income-events dlq show subscriber/everything --archive",
    ],
    run: showDeadLetters,
  });
  addSelection(command)
    .option("--limit <count>", "at most so many", "10")
    .option("--archive", "those of the archive, not of the queue")
    .option("--reveal", "show what they say: it may be personal data");
}

export async function showDeadLetters(operation: Operation, flags: Flags, name = ""): Promise<void> {
  const { deployment, clients, terminal } = operation;
  const limit = countFlag("--limit", flags.limit);
  checkSelection(flags);
  const queue = namedQueue(operation, name);
  const { retentionSeconds } = await queueDepth(clients.sqs, queue.deadLetterQueueUrl);
  const deadLetters: DeadLetter[] = [];
  const place =
    flags.archive === true ? archivedDeadLettersOf(operation, queue) : deadLettersGivenBack(operation, queue);
  const { mayHide } = await place(async (seen) => {
    deadLetters.push(
      ...seen.filter((deadLetter) => isSelected(deadLetter, flags)).slice(0, limit - deadLetters.length),
    );
    return { done: [], isEnough: deadLetters.length === limit };
  });
  if (mayHide && deadLetters.length < limit)
    terminal.progress(`Another reader holds dead letters of ${queue.name} too: ask again in a minute.`);
  checkFound(flags, deadLetters.length, queue.name);
  const overflow = overflowBucket(deployment.output("OverflowBucketName"), clients.s3);
  const described = await Promise.all(
    deadLetters.map(async (deadLetter) => ({
      ...describe(deadLetter, await deadLetterText(deadLetter, overflow), flags.reveal ?? false),
      // The archive keeps a dead letter on.
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
      ? "There is no such dead letter."
      : described.map((deadLetter) => textOf(deadLetter, now)).join("\n\n"),
  );
}

function describe(deadLetter: DeadLetter, text: string, reveal: boolean) {
  const { messageId, sentAt, receives, returns } = deadLetter;
  const { what, id } = contentOfDeadLetter(deadLetter.body);
  return {
    messageId,
    what,
    ...(id !== undefined && { id }),
    reason: reasonOf(deadLetter),
    sentAt: sentAt.toISOString(),
    receives,
    returns: readRedriveCount(returns).count,
    payload: shownJson(text, { reveal, ids: [id], isMessage: true }),
  };
}

type Described = ReturnType<typeof describe> & { readonly endsAt?: string };

function textOf(deadLetter: Described, now: Date): string {
  const { messageId, what, id, reason, sentAt, endsAt, receives, returns, payload } = deadLetter;
  const facts = [
    `sent ${fromNow(new Date(sentAt), now)}`,
    ...(endsAt === undefined ? [] : [`expires ${fromNow(new Date(endsAt), now)}`]),
    `received ${times(receives)}`,
    ...(returns === 0 ? [] : [`redriven ${times(returns)}`]),
  ];
  return [
    oneLine(`${messageId}  ${what}${id === undefined ? "" : `  ${id}`}`),
    `  ${oneLine(reason)}`,
    `  ${facts.join(", ")}`,
    `  ${printableJson(payload)}`,
  ].join("\n");
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}
