import type { Command } from "commander";
import { copyItem, type RestoredItem, restoredItems } from "../../../adapters/dynamodb/table-copy.ts";
import { readErasureLog } from "../../../adapters/erasure/erasure-log.ts";
import { type DigestOf, subjectDigest } from "../../../adapters/erasure/find-erased.ts";
import { batchesOf } from "../../../domain/core/batches.ts";
import { nameOf, type Subject } from "../../../domain/event/subjects.ts";
import { audited } from "../core/audited.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import type { Terminal } from "../core/terminal.ts";
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

function consequences(source: string, stage: string): string {
  return (
    `This copies the items that the table of the stage ${stage} lacks from ${source}, which is read twice. Subscribers get\n` +
    "messages again, with the same ids, and the data of connected accounts is fetched again, within the provider's rate limit."
  );
}

type RestorePorts = {
  /** All items of the restored table, read twice. */
  readonly read: () => AsyncIterable<readonly RestoredItem[]>;
  /** @returns false if the stage's table already has an item with this key */
  readonly copy: (item: RestoredItem) => Promise<boolean>;
  /** Digests of erased subjects. */
  readonly erased: ReadonlySet<string>;
  readonly digestOf: DigestOf;
  readonly terminal: Pick<Terminal, "progress">;
};

type Restored = {
  readonly copied: number;
  /** Items whose key already had a newer item. */
  readonly kept: number;
  /** Items that were not copied because their subject has been erased since. */
  readonly left: number;
  /** Subjects in the restored table that were erased since its backup. */
  readonly erased: readonly Subject[];
};

/** Concurrent writes. */
export const copiesAtOnce = 25;

/**
 * Copies a restored table's items into the stage's, without those of subjects that have been erased since.
 * Events are copied last: by then their states exist and contain them, so that versions continue.
 */
async function restore(ports: RestorePorts): Promise<Restored> {
  const erased = new Map<string, Subject>();
  const [rest, events] = [counter(), counter()];
  await copyAll((item) => !item.isEvent, rest, erased, ports);
  ports.terminal.progress(
    `States, data and links: ${rest.copied} copied, ${rest.kept} were there. Next: events.`,
  );
  await copyAll((item) => item.isEvent, events, erased, ports);
  return {
    copied: rest.copied + events.copied,
    kept: rest.kept + events.kept,
    left: rest.left + events.left,
    erased: [...erased.values()],
  };
}

function counter() {
  return { copied: 0, kept: 0, left: 0 };
}

async function copyAll(
  isWanted: (item: RestoredItem) => boolean,
  counts: ReturnType<typeof counter>,
  erased: Map<string, Subject>,
  ports: RestorePorts,
): Promise<void> {
  for await (const page of ports.read()) {
    for (const batch of batchesOf(page.filter(isWanted), { maxItems: copiesAtOnce })) {
      await Promise.all(
        batch.map(async (item) => {
          const gone = await erasedAmong(item, ports);
          for (const subject of gone) erased.set(nameOf(subject), subject);
          if (gone.length > 0) counts.left += 1;
          else if (await ports.copy(item)) counts.copied += 1;
          else counts.kept += 1;
        }),
      );
    }
  }
}

async function erasedAmong(
  { subjects }: RestoredItem,
  { erased, digestOf }: RestorePorts,
): Promise<readonly Subject[]> {
  const digests = await Promise.all(subjects.map(digestOf));
  return subjects.filter((_, index) => erased.has(digests[index] ?? ""));
}
