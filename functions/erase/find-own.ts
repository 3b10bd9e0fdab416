import type { ErasableRecord, ErasableRecords } from "../../adapters/erasure/erasable-records.ts";
import { nameOf, type Subject } from "../../domain/event/subjects.ts";
import type { EraseTask } from "../../domain/recovery/erasure.ts";

/** What goes with a subject, and others whose records may name it. */
export type Found = { readonly own: readonly Subject[]; readonly others: readonly Subject[] };

/**
 * Finds what goes with a subject. With a user: each account whose state says that it is the user's; where its state says
 * nothing, each that an event of the account itself says to be the user's. An event that announces data is no such
 * sign: a single one with the wrong pair of ids would destroy what is another's. With an account goes nothing; but its
 * events may lie with its user.
 */
export async function findOwn(task: EraseTask, records: ErasableRecords): Promise<Found> {
  const { subject } = task;
  const known = await allOf(subject, records);
  const named = distinct([...known.flatMap((record) => record.named), ...task.namedWith, ...task.claimed]);
  if (subject.kind !== "user") return { own: [], others: named.filter(isUser) };
  const saying = known.filter(({ saysOwner }) => saysOwner).flatMap((record) => record.named);
  const claimed = new Set([...saying, ...task.claimed].map(nameOf));
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
