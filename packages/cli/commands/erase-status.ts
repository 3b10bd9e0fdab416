import type { Command } from "commander";
import { readErasedAt } from "../../../adapters/erasure/erasure-log.ts";
import { subjectDigest } from "../../../adapters/erasure/subject-digest.ts";
import { type Found, readErasure } from "../../../adapters/erasure/tombstones.ts";
import { canonicalId } from "../../../domain/event/canonical-id.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import { addRemoved, type Removed } from "../../../domain/recovery/erasure.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { tableText } from "../core/table.ts";

/** An erasure of somebody who has the id; `found` is absent where only the log still knows of it. */
type Erased = { readonly subject: Subject; readonly erasedAt: string; readonly found?: readonly Found[] };

export function addTo(group: Command): void {
  addCommand(
    group,
    {
      name: "status <id>",
      summary:
        "Shows whether the user, account or company account of an id was erased, when, and what was found.",
      examples: [
        "npx income-events erase status 0f8fad5b-d9cb-469f-a165-70867728950e",
        "npx income-events erase status 0f8fad5b-d9cb-469f-a165-70867728950e --json    for a program",
      ],
    },
    (operation, _, id = "") => status(operation, canonicalId(id)),
  );
}

async function status(operation: Operation, id: string): Promise<void> {
  const { stage } = operation.deployment;
  const subjects = (["user", "account", "company-account"] as const).map((kind) => ({ kind, id }));
  const erased = (await Promise.all(subjects.map((subject) => find(subject, operation)))).flat();
  if (erased.length === 0)
    throw new CommandError("nobody", `Nobody of the id ${id} was erased in the stage ${stage}.`);
  operation.terminal.result({ stage, erased }, erased.map(describe).join("\n"));
}

async function find(subject: Subject, { deployment, clients }: Operation): Promise<readonly Erased[]> {
  const { output } = deployment;
  const digest = await subjectDigest(clients.secretsManager, output("ErasureKeyArn"))(subject);
  const kept = await readErasure(clients.dynamodb, output("TableName"), digest);
  if (kept !== undefined) return [{ subject, ...kept }];
  const erasedAt = await readErasedAt(clients.s3, output("ErasureLogBucketName"), digest);
  return erasedAt === undefined ? [] : [{ subject, erasedAt }];
}

function describe({ subject: { kind, id }, erasedAt, found }: Erased): string {
  const was = `The ${kind} ${id} was erased at ${erasedAt}.`;
  if (found === undefined) return `${was} What was found is no longer kept.`;
  const removed = found.reduce<Removed>((sum, each) => addRemoved(sum, each.removed), {});
  const incomplete = [...new Set(found.flatMap((each) => each.incomplete))];
  const rows = Object.entries(removed).map(([what, count]) => [what, count] as const);
  return [
    found.length > 0 && found.every(({ isFinished }) => isFinished)
      ? was
      : `${was} The erasure is not finished: a pass is still to come.`,
    rows.length === 0
      ? "Nothing was found to remove."
      : tableText(["removed, with what belongs to it", "count"], rows),
    ...(incomplete.length === 0
      ? []
      : [`Not all dead letters could be looked at, of: ${incomplete.join(", ")}.`]),
  ].join("\n");
}
