import { orphanKey, partitionOf } from "../../adapters/dynamodb/keys.ts";
import type { ErasableRecord } from "../../adapters/erasure/erasable-records.ts";
import { batchesOf } from "../../domain/core/batches.ts";
import { nameOf, type Subject } from "../../domain/event/subjects.ts";
import { addRemoved, type EraseTask, type Removed } from "../../domain/recovery/erasure.ts";
import { mentions } from "../../domain/recovery/mentions.ts";
import type { EraserDependencies, TimeLeft } from "./dependencies.ts";

/** Removes everything that the table and the bucket hold about the erased subjects. */
export async function removeRecords(
  task: EraseTask,
  dependencies: EraserDependencies,
  timeLeft: TimeLeft,
): Promise<EraseTask> {
  const { removed, isComplete } = await removeAll(task, dependencies, timeLeft);
  const replays = await removeReplays(task, dependencies);
  const after = { ...task, removed: addRemoved(addRemoved(task.removed, removed), counts({ replays })) };
  return isComplete ? { ...after, next: task.isThorough ? "dead letters" : "messages" } : after;
}

/** Removes replays that name an erased subject. A replay that has other subjects, too, starts over. */
async function removeReplays({ erased }: EraseTask, { records }: EraserDependencies): Promise<number> {
  const isNamed = mentions(erased, (subject) => [partitionOf(subject)]);
  const named = (await records.replays()).filter(({ text }) => isNamed(text));
  let count = 0;
  for (const replay of named) if (await records.remove(replay)) count += 1;
  return count;
}

type Progress = { readonly removed: Removed; readonly isComplete: boolean };

async function removeAll(
  { erased, namedWith }: EraseTask,
  dependencies: EraserDependencies,
  timeLeft: TimeLeft,
): Promise<Progress> {
  const isErased = new Set(erased.map(nameOf));
  const names = ({ named, announced }: ErasableRecord) =>
    announced === undefined && named.some((other) => other.kind !== "user" && isErased.has(nameOf(other)));
  const others = namedWith.filter((other) => !isErased.has(nameOf(other)));
  const users = others.filter(isUser);
  let removed: Removed = {};
  const parts = [
    ...users.map((user) => () => removeFrom(user, names, dependencies, timeLeft)),
    ...others.map((other) => () => forgetIn(other, isErased, dependencies)),
    ...erased.map((each) => () => removeSubject(each, dependencies, timeLeft)),
  ];
  for (const part of parts) {
    const progress = await part();
    removed = addRemoved(removed, progress.removed);
    if (!progress.isComplete) return { removed, isComplete: false };
  }
  return { removed, isComplete: true };
}

async function removeSubject(
  subject: Subject,
  dependencies: EraserDependencies,
  timeLeft: TimeLeft,
): Promise<Progress> {
  const { objects, records } = dependencies;
  const data = await objects.removeBelow(`data/${nameOf(subject)}/`);
  const pages = await objects.removeBelow(`pages/${nameOf(subject)}/`);
  if (subject.kind === "account") {
    for (const item of ["mark", "deletion"] as const)
      await records.remove({ key: orphanKey(item, subject.id) });
  }
  const { removed, isComplete } = await removeFrom(subject, () => true, dependencies, timeLeft);
  return { removed: addRemoved(counts({ data, pages }), removed), isComplete };
}

function isUser({ kind }: Subject): boolean {
  return kind === "user";
}

/**
 * Removes an erased user from another user's account, in case an event named the user by mistake, and an erased
 * account from its user's readiness.
 */
async function forgetIn(
  other: Subject,
  isErased: ReadonlySet<string>,
  { records }: EraserDependencies,
): Promise<Progress> {
  for await (const page of records.pagesOf(other)) {
    for (const record of page) {
      const { lastUserId: id, announced, named } = record;
      const isNamed = id !== undefined && isErased.has(nameOf({ kind: "user", id }));
      if (isNamed || (announced !== undefined && named.some((each) => isErased.has(nameOf(each)))))
        await records.forget(record, isErased);
    }
  }
  return { removed: {}, isComplete: true };
}

/** Removes records of a partition. The object that a record points to is removed first. */
async function removeFrom(
  subject: Subject,
  isUnwanted: (record: ErasableRecord) => boolean,
  { records, objects }: EraserDependencies,
  timeLeft: TimeLeft,
): Promise<Progress> {
  let removed: Removed = {};
  for await (const page of records.pagesOf(subject)) {
    const unwanted = page.filter(isUnwanted);
    for (const some of batchesOf(unwanted, { maxItems: atOnce })) {
      if (timeLeft.isOver()) return { removed, isComplete: false };
      const deleted = await Promise.all(
        some.map(async (record) => {
          if (record.bodyObject !== undefined) await objects.remove(record.bodyObject);
          return (await records.remove(record)) ? [record] : [];
        }),
      );
      for (const { kind, bodyObject } of deleted.flat()) {
        removed = addRemoved(removed, counts({ [kind]: 1, bodies: bodyObject === undefined ? 0 : 1 }));
      }
    }
  }
  return { removed, isComplete: true };
}

/** Maximum number of concurrent deletions. */
const atOnce = 25;

function counts(all: Removed): Removed {
  return Object.fromEntries(Object.entries(all).filter(([, count]) => count > 0));
}
