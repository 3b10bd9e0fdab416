import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { readErasureLog } from "../../adapters/erasure-log.ts";
import { readReport } from "../../adapters/erasure-report.ts";
import { sqsSender } from "../../adapters/sqs-sender.ts";
import { subjectDigest } from "../../adapters/subject-digest.ts";
import { scanSubjects } from "../../adapters/subject-scan.ts";
import { addRemoved, eraseTask, type Removed } from "../../domain/erasure.ts";
import { addCommand, type Operation } from "../command.ts";
import { followErasures } from "../erasure.ts";
import { findReturned } from "../erasure-log.ts";
import { tableText } from "../table.ts";
import { workQueue } from "../work-queues.ts";

export function addEraseApplyLog(group: Command): void {
  addCommand(
    group,
    {
      name: "apply-log",
      summary: "Erases again whom the log of erasures names, after a restore. Reads the whole table.",
      examples: ["npx income-events erase apply-log", "npx income-events erase apply-log --yes --json"],
    },
    applyLog,
  );
}

async function applyLog({ deployment, clients, terminal }: Operation): Promise<void> {
  const { stage } = deployment;
  const { dynamodb, s3, secretsManager, sqs } = clients;
  const table = deployment.output("TableName");
  const log = await readErasureLog(s3, deployment.output("ErasureLogBucketName"));
  terminal.progress(`The log names ${log.size} users and accounts. Looking for them in the whole table.`);
  const digestOf = subjectDigest(secretsManager, deployment.output("ErasureKeyArn"));
  const returned = await findReturned(log, scanSubjects(dynamodb, table), digestOf, terminal);
  if (returned.length > 0) {
    await terminal.confirm(
      `${returned.length} users and accounts of the stage ${stage} were erased, and are in the table again.\n` +
        "This erases them for good, with all accounts of these users.",
    );
  }
  const tasks = returned.map((subject) => {
    const id = randomUUID();
    return { ...eraseTask(subject, "restored", [], id), id };
  });
  const reports = await followErasures(tasks, {
    send: sqsSender(sqs),
    queueUrl: workQueue(deployment, "erase").queueUrl,
    readReport: (id) => readReport(dynamodb, table, id),
    sleep,
    terminal,
  });
  const removed = reports.reduce<Removed>((sum, report) => addRemoved(sum, report.removed), {});
  const text =
    returned.length === 0
      ? `Of ${log.size} who were erased nobody is in the table.`
      : `${returned.length} users and accounts are erased again.\n${tableText(["removed", "count"], Object.entries(removed))}`;
  terminal.result({ stage, logged: log.size, erased: returned.length, removed }, text);
}
