import type { ErasableRecord, ErasableRecords } from "../../adapters/erasure/erasable-records.ts";
import { nameOf, type Subject } from "../../domain/event/subjects.ts";
import type { EraseTask } from "../../domain/recovery/erasure.ts";

/** The subjects that are erased with a subject, and others whose records may name it. */
export type Found = { readonly own: readonly Subject[]; readonly others: readonly Subject[] };

/**
 * Finds the subjects to erase with a subject. For a user, these are the accounts whose state names the user
 * as owner or, if the state names nobody, whose own events do. An event that only announces data doesn't
 * count: a single one with a wrong pair of ids would destroy another user's data. Nothing is erased with an
 * account, but its user's partition may hold its events.
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
