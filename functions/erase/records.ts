import { orphanKey, partitionOf } from "../../adapters/dynamodb/keys.ts";
import type { ErasableRecord, ErasableRecords } from "../../adapters/erasure/erasable-records.ts";
import { batchesOf } from "../../domain/core/batches.ts";
import { nameOf, type Subject } from "../../domain/event/subjects.ts";
import { addRemoved } from "../../domain/recovery/erase-progress.ts";
import type { EraseTask, Removed } from "../../domain/recovery/erasure.ts";
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

/** Removes replays that name an erased subject. A replay that also has other subjects starts over. */
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
  const names = new Set(erased.map(nameOf));
  const isOfErased = ({ named, announced }: ErasableRecord) =>
    announced === undefined && named.some((other) => other.kind !== "user" && names.has(nameOf(other)));
  const others = namedWith.filter((other) => !names.has(nameOf(other)));
  let removed: Removed = {};
  const parts = [
    ...others.map((other) => () => {
      const isUnwanted = other.kind === "user" ? isOfErased : () => false;
      return removeFrom(other, { isUnwanted, names }, dependencies, timeLeft);
    }),
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
  const { removed, isComplete } = await removeFrom(subject, everything, dependencies, timeLeft);
  return { removed: addRemoved(counts({ data, pages }), removed), isComplete };
}

type Selection = {
  readonly isUnwanted: (record: ErasableRecord) => boolean;
  /** Names of erased subjects, which the other records forget. */
  readonly names: ReadonlySet<string>;
};

const everything: Selection = { isUnwanted: () => true, names: new Set() };

/**
 * Removes records of a partition. The object that a record points to is removed first. The other records forget
 * erased users whom an event named by mistake, and erased accounts in their user's readiness.
 */
async function removeFrom(
  subject: Subject,
  { isUnwanted, names }: Selection,
  { records, objects }: EraserDependencies,
  timeLeft: TimeLeft,
): Promise<Progress> {
  let removed: Removed = {};
  for await (const page of records.pagesOf(subject)) {
    const unwanted = page.filter(isUnwanted);
    for (const batch of batchesOf(unwanted, { maxItems: maxConcurrentDeletions })) {
      if (timeLeft.isOver()) return { removed, isComplete: false };
      const deleted = await Promise.all(
        batch.map(async (record) => {
          if (record.bodyObject !== undefined) await objects.remove(record.bodyObject);
          return (await records.remove(record)) ? [record] : [];
        }),
      );
      for (const { kind, bodyObject } of deleted.flat()) {
        removed = addRemoved(removed, counts({ [kind]: 1, bodies: bodyObject === undefined ? 0 : 1 }));
      }
    }
    for (const record of page)
      if (!isUnwanted(record) && mustForget(record, names)) await records.forget(record, names);
  }
  return { removed, isComplete: true };
}

function mustForget(
  { lastUserId: id, announced, named }: ErasableRecord,
  names: ReadonlySet<string>,
): boolean {
  if (id !== undefined && names.has(nameOf({ kind: "user", id }))) return true;
  return announced !== undefined && named.some((each) => names.has(nameOf(each)));
}

const maxConcurrentDeletions = 25;

function counts(all: Removed): Removed {
  return Object.fromEntries(Object.entries(all).filter(([, count]) => count > 0));
}

/** The subjects that are erased with a subject, and others whose records may name it. */
export type Found = { readonly own: readonly Subject[]; readonly others: readonly Subject[] };

/**
 * Finds the subjects to erase with a subject. For a user, these are the accounts whose state names the user
 * as owner or, if the state names no owner, whose own events name the user. An event that only announces data
 * doesn't count: a single one with a wrong pair of ids would destroy another user's data. Nothing is erased with
 * an account, but its user's partition may hold its events.
 */
export async function findOwn(task: EraseTask, records: ErasableRecords): Promise<Found> {
  const { subject } = task;
  const stored = await allOf(subject, records);
  const named = distinct([...stored.flatMap((record) => record.named), ...task.namedWith, ...task.claimed]);
  if (subject.kind !== "user") return { own: [], others: named.filter(isUser) };
  const owning = stored.filter(({ saysOwner }) => saysOwner).flatMap((record) => record.named);
  const claimed = new Set([...owning, ...task.claimed].map(nameOf));
  const own: Subject[] = [];
  const others: Subject[] = [];
  for (const account of named.filter((other) => !isUser(other))) {
    const ownerId = (await allOf(account, records)).find((record) => record.ownerId !== undefined)?.ownerId;
    const isOwn = ownerId === undefined ? claimed.has(nameOf(account)) : ownerId === subject.id;
    (isOwn ? own : others).push(account);
  }
  return { own, others };
}

async function allOf(subject: Subject, records: ErasableRecords): Promise<readonly ErasableRecord[]> {
  const all: ErasableRecord[] = [];
  for await (const page of records.pagesOf(subject)) all.push(...page);
  return all;
}

function isUser({ kind }: Subject): boolean {
  return kind === "user";
}

function distinct(subjects: readonly Subject[]): readonly Subject[] {
  return [...new Map(subjects.map((subject) => [nameOf(subject), subject])).values()];
}
