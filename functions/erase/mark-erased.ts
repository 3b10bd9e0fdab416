import { nameOf, type Subject } from "../../domain/event/subjects.ts";
import { correlationOfErasure, type EraseTask } from "../../domain/recovery/erasure.ts";
import type { StepDependencies } from "./dependencies.ts";
import { findOwn } from "./find-own.ts";

/**
 * Places tombstones for a subject and its accounts: from then on nothing of them leaves the table, and what comes is
 * erased. Writes them into the log, so that a restore knows of it. Nothing is removed before all are in the next
 * message: their records alone report whose they are.
 */
export async function markErased(task: EraseTask, dependencies: StepDependencies): Promise<EraseTask> {
  const { digestOf, tombstones, writeLog, records } = dependencies;
  const mark = async (subject: Subject) => {
    const digest = await digestOf(subject);
    const { erasedAt, isAnnounced } = await tombstones.place(digest, correlationOfErasure(task));
    await writeLog(digest, erasedAt);
    return isAnnounced;
  };
  // Before its accounts are looked for: one that becomes known later is found by the relay.
  const erased = [await mark(task.subject)];
  const { own, others } = await findOwn(task, records);
  const all = merge([task.subject, ...task.erased, ...own]);
  for (const subject of all.slice(1)) erased.push(await mark(subject));
  return {
    ...task,
    erased: all,
    namedWith: merge([...task.namedWith, ...others]),
    // What came late of those who were erased before: dead letters have been looked through for them.
    isThorough: task.cause !== "arrived late" || !erased.every(Boolean) || task.isThorough,
    next: "records",
  };
}

function merge(subjects: readonly Subject[]): readonly Subject[] {
  return [...new Map(subjects.map((subject) => [nameOf(subject), subject])).values()];
}
