import type { Command } from "commander";
import { copyItem, type RestoredItem, restoredItems } from "../../../adapters/dynamodb/table-copy.ts";
import { readErasureLog } from "../../../adapters/erasure/erasure-log.ts";
import { subjectDigest } from "../../../adapters/erasure/find-erased.ts";
import { batchesOf } from "../../../domain/core/batches.ts";
import { nameOf, type Subject } from "../../../domain/event/subjects.ts";
import { audited } from "../core/audited.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { eraseAgain, failWhileOpen } from "../recovery/erasure.ts";

export function addTo(program: Command): void {
  addCommand(program, {
    name: "restore <table>",
    summary:
      "Copies missing records from a table restored from a backup, except those of erased users and accounts.",
    asks: true,
    examples: ["npx income-events restore income-events-restored"],
    run: (operation, _flags, source = "") => restoreFrom(operation, source),
  });
}

async function restoreFrom(operation: Operation, source: string): Promise<void> {
  const { deployment, clients, terminal } = operation;
  const { stage } = deployment;
  const table = deployment.output("TableName");
  if (source === table)
    throw CommandError.usage("That is the stage's own table. Name the one that a backup was restored into.");
  const erased = await readErasureLog(clients.s3, deployment.output("ErasureLogBucketName"));
  await terminal.confirm(
    `This copies the items that the table of the stage ${stage} lacks from ${source}, which is read twice. Subscribers get\n` +
      "messages again, with the same ids, and the data of connected accounts is fetched again, within the provider's rate limit.",
  );
  const act = { act: "restore", target: source } as const;
  const restored = await audited(
    operation,
    act,
    () => restore(operation, source, erased),
    ({ copied }) => copied,
  );
  // Restores tombstones that the table may have lost.
  const erasures = await eraseAgain(operation, restored.erased);
  const { copied, kept, left } = restored;
  terminal.result(
    { stage, copied, kept, left, erased: restored.erased.length },
    `${copied} items are restored; ${kept} were there already, and stay as they are. ${left} were left out: they are of ` +
      `${restored.erased.length} users and accounts who were erased since.\nDelete the table ${source} when you no longer need it: it holds personal data that does not expire.`,
  );
  failWhileOpen(erasures);
}

/** Concurrent writes. */
const copiesAtOnce = 25;

/**
 * Copies a restored table's items into the stage's, without those of subjects that have been erased since.
 * Events are copied last: by then their states exist and contain them, so that versions continue.
 * @param log digests of erased subjects
 * @returns how many were copied, were there already, or left out; and the subjects that were erased since
 */
async function restore(
  { deployment, clients, terminal }: Operation,
  source: string,
  log: ReadonlySet<string>,
) {
  const { dynamodb, secretsManager } = clients;
  const table = deployment.output("TableName");
  const digestOf = subjectDigest(secretsManager, deployment.output("ErasureKeyArn"));
  const erased = new Map<string, Subject>();
  const counts = { copied: 0, kept: 0, left: 0 };
  const copy = async (item: RestoredItem) => {
    const digests = await Promise.all(item.subjects.map(digestOf));
    const gone = item.subjects.filter((_, index) => log.has(digests[index] ?? ""));
    for (const subject of gone) erased.set(nameOf(subject), subject);
    if (gone.length > 0) counts.left += 1;
    else if (await copyItem(dynamodb, table, item)) counts.copied += 1;
    else counts.kept += 1;
  };
  const copyAll = async (isWanted: (item: RestoredItem) => boolean) => {
    for await (const page of restoredItems(dynamodb, source, new Date()))
      for (const batch of batchesOf(page.filter(isWanted), { maxItems: copiesAtOnce }))
        await Promise.all(batch.map(copy));
  };
  await copyAll((item) => !item.isEvent);
  terminal.progress(
    `States, data and links: ${counts.copied} copied, ${counts.kept} were there. Next: events.`,
  );
  await copyAll((item) => item.isEvent);
  return { ...counts, erased: [...erased.values()] };
}
