import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type ErasureReport, readReport } from "../../../adapters/erasure/erasure-report.ts";
import { sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import { eraseTask } from "../../../domain/recovery/erasure.ts";
import type { Operation } from "../core/command.ts";
import { workQueue } from "../status/work-queues.ts";
import { followErasures } from "./erasure.ts";

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
