import { nameOf, type Subject } from "../../domain/event/subjects.ts";
import { correlationOfErasure, type EraseTask } from "../../domain/recovery/erasure.ts";
import type { EraserDependencies } from "./dependencies.ts";
import { findOwn } from "./find-own.ts";

/**
 * Places tombstones for a subject and its accounts: from then on nothing about them leaves the table, and
 * late data is erased. Adds them to the erasure log for restores. Nothing is removed before the next message
 * names them all: only their records show whose they are.
 */
export async function markErased(task: EraseTask, dependencies: EraserDependencies): Promise<EraseTask> {
  if (task.isFound && !task.isDryRun) return mark(task, dependencies);
  const isFound = task.isFound || (await isKnown(task.subject, dependencies));
  if (isFound && !task.isDryRun) return mark({ ...task, isFound }, dependencies);
  const { own, others } = await findOwn(task, dependencies.records);
  const [erased, namedWith] = [[task.subject, ...own], merge([...task.namedWith, ...others])];
  // Not found, or a dry run: dead letters may still name the subject.
  return { ...task, isFound, erased, namedWith, isThorough: true, next: "records" };
}

async function isKnown(
  subject: Subject,
  { digestOf, tombstones, records }: EraserDependencies,
): Promise<boolean> {
  for await (const page of records.pagesOf(subject)) if (page.length > 0) return true;
  return tombstones.isPlaced(await digestOf(subject));
}

async function mark(task: EraseTask, dependencies: EraserDependencies): Promise<EraseTask> {
  const { digestOf, tombstones, writeLog, records } = dependencies;
  const place = async (subject: Subject) => {
    const digest = await digestOf(subject);
    const { erasedAt, isAnnounced } = await tombstones.place(digest, correlationOfErasure(task));
    await writeLog(digest, erasedAt);
    return isAnnounced;
  };
  // Before the search for accounts: the relay finds those that become known later.
  const erased = [await place(task.subject)];
  const { own, others } = await findOwn(task, records);
  const all = merge([task.subject, ...task.erased, ...own]);
  for (const subject of all.slice(1)) erased.push(await place(subject));
  return {
    ...task,
    erased: all,
    namedWith: merge([...task.namedWith, ...others]),
    // For late data about subjects that were erased before, dead letters have already been searched.
    isThorough: task.cause !== "arrived late" || !erased.every(Boolean) || task.isThorough,
    next: "records",
  };
}

function merge(subjects: readonly Subject[]): readonly Subject[] {
  return [...new Map(subjects.map((subject) => [nameOf(subject), subject])).values()];
}
