import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type ErasureReport, readReport } from "../adapters/erasure-report.ts";
import { sqsSender } from "../adapters/sqs-sender.ts";
import { eraseTask } from "../domain/erasure.ts";
import type { Subject } from "../domain/subjects.ts";
import type { Operation } from "./command.ts";
import { followErasures } from "./erasure.ts";
import { workQueue } from "./work-queues.ts";

/** Erases subjects that a restore brought back, and waits. @returns a report for each */
export function eraseAgain(
  { deployment, clients, terminal }: Operation,
  subjects: readonly Subject[],
): Promise<readonly ErasureReport[]> {
  const tasks = subjects.map((subject) => {
    const id = randomUUID();
    return { ...eraseTask(subject, "restored", [], id), id };
  });
  return followErasures(tasks, {
    send: sqsSender(clients.sqs),
    queueUrl: workQueue(deployment, "erase").queueUrl,
    readReport: (id) => readReport(clients.dynamodb, deployment.output("TableName"), id),
    sleep,
    terminal,
  });
}
