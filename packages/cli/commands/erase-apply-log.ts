import type { Command } from "commander";
import { type SubjectPage, scanSubjects } from "../../../adapters/dynamodb/subject-reads.ts";
import { readErasureLog } from "../../../adapters/erasure/erasure-log.ts";
import { type DigestOf, subjectDigest } from "../../../adapters/erasure/find-erased.ts";
import { nameOf, type Subject } from "../../../domain/event/subjects.ts";
import { addRemoved, type Removed } from "../../../domain/recovery/erasure.ts";
import { audited } from "../core/audited.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { agreeToScan, type OnScanned } from "../core/scan-consent.ts";
import { tableText } from "../core/table.ts";
import { eraseAgain, failWhileOpen } from "../recovery/erasure.ts";

export function addTo(group: Command): void {
  addCommand(group, {
    name: "apply-log",
    summary: "Repeats the logged erasures after a restore. Reads the whole table.",
    asks: true,
    examples: ["npx income-events erase apply-log", "npx income-events erase apply-log --yes --json"],
    run: applyLog,
  });
}

async function applyLog(operation: Operation): Promise<void> {
  const { deployment, clients, terminal } = operation;
  const { stage } = deployment;
  const { dynamodb, s3, secretsManager } = clients;
  const table = deployment.output("TableName");
  const log = await readErasureLog(s3, deployment.output("ErasureLogBucketName"));
  terminal.progress(`The log names ${log.size} users and accounts.`);
  const onScanned = await agreeToScan(operation);
  const digestOf = subjectDigest(secretsManager, deployment.output("ErasureKeyArn"));
  const returned = await findReturned(log, scanSubjects(dynamodb, table), digestOf, onScanned);
  if (returned.length > 0) {
    await terminal.confirm(
      `${returned.length} users and accounts of the stage ${stage} were erased, and are in the table again.\n` +
        "This erases them permanently, with all accounts of these users.",
    );
  }
  const erase = () => eraseAgain(operation, returned);
  const act = { act: "erase", target: "the log of erasures" } as const;
  const reports = returned.length === 0 ? [] : await audited(operation, act, erase, ({ length }) => length);
  const removed = reports.reduce<Removed>((sum, report) => addRemoved(sum, report.removed), {});
  const text =
    returned.length === 0
      ? `None of the ${log.size} erased users and accounts is in the table.`
      : `${returned.length} users and accounts are erased again.\n${tableText(["removed", "count"], Object.entries(removed))}`;
  terminal.result({ stage, logged: log.size, erased: returned.length, removed }, text);
  failWhileOpen(reports);
}

/** Finds subjects that are in the table although the log says that they were erased. */
async function findReturned(
  log: ReadonlySet<string>,
  pages: AsyncIterable<SubjectPage>,
  digestOf: DigestOf,
  onScanned: OnScanned,
): Promise<readonly Subject[]> {
  const found = new Map<string, Subject>();
  let read = 0;
  for await (const { items, subjects } of pages) {
    for (const subject of subjects) {
      if (log.has(await digestOf(subject))) found.set(nameOf(subject), subject);
    }
    read += items;
    onScanned(read, found.size);
  }
  return [...found.values()];
}
