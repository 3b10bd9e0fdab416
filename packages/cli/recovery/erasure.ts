import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type ErasureReport, readReport } from "../../../adapters/erasure/tombstones.ts";
import { sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import { type EraseTask, eraseTask, writeEraseTask } from "../../../domain/recovery/erasure.ts";
import type { Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { workQueue } from "../status/work-queues.ts";

/** Milliseconds between two polls of the table. */
const pauseInMs = 500;
/**
 * Maximum polls without progress. A step lasts one function time-out at most; a killed step is retried after
 * six.
 */
const patience = (6 * 300 * 1000) / pauseInMs;

/**
 * Starts erasures in the stage's function and follows them. They continue without this process.
 * @param tasks with an id each
 * @returns a report for each, in order; each erasure is done or waits for S3
 * @throws CommandError if one makes no progress
 */
export async function followErasures(
  tasks: readonly (EraseTask & { readonly id: string })[],
  operation: Operation,
): Promise<readonly ErasureReport[]> {
  const { deployment, clients } = operation;
  const failed = await sqsSender(clients.sqs)(
    workQueue(deployment, "erase").queueUrl,
    tasks.map((task) => ({ body: writeEraseTask(task) })),
  );
  const reason = failed.find((failure) => failure !== undefined)?.reason;
  if (reason !== undefined) {
    const message = `The erasure could not be requested (${reason}). Run the command again.`;
    // With the name of AWS's error, so that it is explained like one.
    throw Object.assign(new Error(message), { name: reason });
  }
  const reports: ErasureReport[] = [];
  for (const { id, isDryRun } of tasks) reports.push(await follow(id, isDryRun, operation));
  return reports;
}

/**
 * Fails at the end of a command if an erasure is incomplete.
 * @throws CommandError if S3 refuses to delete objects
 */
export function failWhileOpen(reports: readonly Pick<ErasureReport, "refused" | "isWaiting">[]): void {
  const refused = new Set(reports.flatMap((report) => (report.isWaiting ? report.refused : [])));
  if (refused.size === 0) return;
  throw CommandError.failed(
    `Not erased yet: S3 refuses ${[...refused].join(" and ")}, which may hold data of a person to erase. Their key may be ` +
      "disabled, or the eraser may not use it: see encryption.previousKeyArns. Allow the key. The erasure then completes; " +
      "after 12 hours it waits in the dead letters of erase: npx income-events dlq redrive erase.",
  );
}

async function follow(
  id: string,
  isDryRun: boolean,
  { deployment, clients, terminal }: Operation,
): Promise<ErasureReport> {
  const table = deployment.output("TableName");
  let reported = "";
  for (let idle = 0; idle < patience; idle += 1) {
    const report = await readReport(clients.dynamodb, table, id);
    if (report?.isDone || report?.isWaiting) return report;
    const now = report === undefined ? "" : progressText(report, isDryRun);
    if (now !== reported) {
      terminal.progress(now);
      reported = now;
      idle = 0;
    }
    await sleep(pauseInMs);
  }
  throw CommandError.failed(
    "The erasure has made no progress for half an hour. Its task is still in the queue erase, or is a dead letter. See " +
      "why: npx income-events dlq show erase",
  );
}

function progressText({ step, removed, subjects }: ErasureReport, isDryRun: boolean): string {
  const sum = Object.values(removed).reduce((some, count) => some + count, 0);
  return `${isDryRun ? "Found" : "Removed"} so far: ${sum}. Users and accounts: ${subjects}. Next: ${step}.`;
}

/** Erases subjects that a restore brought back. @returns a report for each */
export function eraseAgain(
  operation: Operation,
  subjects: readonly Subject[],
): Promise<readonly ErasureReport[]> {
  const tasks = subjects.map((subject) => {
    const id = randomUUID();
    return { ...eraseTask(subject, "restored", [], id), id };
  });
  return followErasures(tasks, operation);
}
