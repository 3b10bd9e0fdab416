import type { ErasableRecord } from "../../adapters/erasable-records.ts";
import { addRemoved, type EraseTask, type Removed } from "../../domain/erasure.ts";
import { nameOf, type Subject } from "../../domain/subjects.ts";
import type { StepDependencies } from "./dependencies.ts";
import { findOwn } from "./find-own.ts";

/**
 * Removes all that the table and the bucket hold of a subject and its accounts. Tombstones come first: from then on
 * nothing of them leaves the table, and what comes is erased. Then the log, so that a restore knows of it.
 */
export async function removeRecords(task: EraseTask, dependencies: StepDependencies): Promise<EraseTask> {
  const { digestOf, tombstones, writeLog, records } = dependencies;
  const mark = async (subject: Subject) => {
    const digest = await digestOf(subject);
    const { erasedAt, isTold } = await tombstones.place(digest);
    await writeLog(digest, erasedAt);
    return isTold;
  };
  // Before its accounts are looked for: one that becomes known later is found by the relay.
  const marked = [await mark(task.subject)];
  const { own, users } = await findOwn(task, records);
  for (const subject of own) marked.push(await mark(subject));
  const erased = merge([task.subject, ...task.erased, ...own]);
  const found: EraseTask = { ...task, erased, namedWith: merge([...task.namedWith, ...users]) };
  const { removed, isComplete } = await removeAll(found, dependencies);
  const after = { ...found, removed: addRemoved(task.removed, removed) };
  if (!isComplete) return after;
  // What came late of those who were erased before: dead letters have been looked at for them.
  const isKnown = task.cause === "arrived late" && marked.every(Boolean);
  return { ...after, next: isKnown ? "messages" : "dead letters" };
}

function merge(subjects: readonly Subject[]): readonly Subject[] {
  return [...new Map(subjects.map((subject) => [nameOf(subject), subject])).values()];
}

type Progress = { readonly removed: Removed; readonly isComplete: boolean };

/** The subject itself comes last: until then its records tell which accounts are its own, however often this is killed. */
async function removeAll(
  { subject, erased, namedWith }: EraseTask,
  dependencies: StepDependencies,
): Promise<Progress> {
  const isErased = new Set(erased.map(nameOf));
  const names = ({ named }: ErasableRecord) =>
    named.some((other) => other.kind !== "user" && isErased.has(nameOf(other)));
  const others = namedWith.filter((other) => other.kind === "user" && !isErased.has(nameOf(other)));
  const own = [...erased.filter((other) => nameOf(other) !== nameOf(subject)), subject];
  let removed: Removed = {};
  const parts = [
    ...others.map((user) => () => removeFrom(user, names, dependencies)),
    ...own.map((each) => () => removeWhole(each, dependencies)),
  ];
  for (const part of parts) {
    const progress = await part();
    removed = addRemoved(removed, progress.removed);
    if (!progress.isComplete) return { removed, isComplete: false };
  }
  return { removed, isComplete: true };
}

async function removeWhole(subject: Subject, dependencies: StepDependencies): Promise<Progress> {
  const { objects } = dependencies;
  const data = await objects.removeBelow(`data/${nameOf(subject)}/`);
  const pages = await objects.removeBelow(`pages/${nameOf(subject)}/`);
  const { removed, isComplete } = await removeFrom(subject, () => true, dependencies);
  return { removed: addRemoved(counts({ data, pages }), removed), isComplete };
}

/** Removes records of a partition, each after the object that it points to. */
async function removeFrom(
  subject: Subject,
  isUnwanted: (record: ErasableRecord) => boolean,
  { records, objects, isTimeOver }: StepDependencies,
): Promise<Progress> {
  let removed: Removed = {};
  for await (const page of records.pagesOf(subject)) {
    const unwanted = page.filter(isUnwanted);
    for (let start = 0; start < unwanted.length; start += atOnce) {
      if (isTimeOver()) return { removed, isComplete: false };
      const some = unwanted.slice(start, start + atOnce);
      await Promise.all(
        some.map(async (record) => {
          if (record.bodyObject !== undefined) await objects.remove(record.bodyObject);
          await records.remove(record);
        }),
      );
      for (const { kind, bodyObject } of some) {
        removed = addRemoved(removed, counts({ [kind]: 1, bodies: bodyObject === undefined ? 0 : 1 }));
      }
    }
  }
  return { removed, isComplete: true };
}

/** Deletions that are under way together. */
const atOnce = 25;

function counts(all: Removed): Removed {
  return Object.fromEntries(Object.entries(all).filter(([, count]) => count > 0));
}
