import type { Command } from "commander";
import { copyItem, type RestoredItem, restoredItems } from "../../../adapters/dynamodb/table-copy.ts";
import { readErasureLog } from "../../../adapters/erasure/erasure-log.ts";
import { subjectDigest } from "../../../adapters/erasure/subject-digest.ts";
import { audited } from "../core/audited.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { eraseAgain, failWhileOpen } from "../recovery/erasure.ts";
import { restore } from "../recovery/restore.ts";

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
  const { dynamodb, s3, secretsManager } = clients;
  const table = deployment.output("TableName");
  if (source === table)
    throw CommandError.usage("That is the stage's own table. Name the one that a backup was restored into.");
  const erased = await readErasureLog(s3, deployment.output("ErasureLogBucketName"));
  await terminal.confirm(consequences(source, stage));
  const ports = {
    read: () => restoredItems(dynamodb, source, new Date()),
    copy: (item: RestoredItem) => copyItem(dynamodb, table, item),
    erased,
    digestOf: subjectDigest(secretsManager, deployment.output("ErasureKeyArn")),
    terminal,
  };
  const act = { act: "restore", target: source } as const;
  const restored = await audited(
    operation,
    act,
    () => restore(ports),
    ({ copied }) => copied,
  );
  // For their tombstones, which the table may have lost with the rest.
  const erasures = await eraseAgain({ deployment, clients, terminal }, restored.erased);
  const { copied, kept, left } = restored;
  terminal.result(
    { stage, copied, kept, left, erased: restored.erased.length },
    `${copied} items are restored; ${kept} were there already, and stay as they are. ${left} were left out: they are of ` +
      `${restored.erased.length} users and accounts who were erased since.\nDelete the table ${source} when you no longer need it: it holds personal data that does not expire.`,
  );
  failWhileOpen(erasures);
}

function consequences(source: string, stage: string): string {
  return (
    `This copies what the table of the stage ${stage} lacks from ${source}, which is read twice. Each item passes the stream\n` +
    "as any write does: subscribers get messages again, with the ids that these had, and the data of connected accounts is\n" +
    "fetched again, within the provider's rate."
  );
}
