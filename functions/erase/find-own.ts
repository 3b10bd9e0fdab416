import type { ErasableRecords } from "../../adapters/erasure/erasable-records.ts";
import { nameOf, type Subject } from "../../domain/event/subjects.ts";
import type { EraseTask } from "../../domain/recovery/erasure.ts";

/** What goes with a subject, and the users whose records may name it. */
export type Found = { readonly own: readonly Subject[]; readonly users: readonly Subject[] };

/**
 * Finds what goes with a subject. With a user: each account that its records or the task name, unless the account's
 * own records say that it is another user's. With an account: nothing; but its events may lie with its user.
 */
export async function findOwn(task: EraseTask, records: ErasableRecords): Promise<Found> {
  const { subject, namedWith } = task;
  const named = [...(await namedIn(subject, records)), ...namedWith];
  if (subject.kind !== "user") return { own: [], users: distinct(named.filter(isUser)) };
  const own: Subject[] = [];
  for (const account of distinct(named.filter((other) => !isUser(other)))) {
    const owners = (await namedIn(account, records)).filter(isUser);
    if (owners.length === 0 || owners.some(({ id }) => id === subject.id)) own.push(account);
  }
  return { own, users: [] };
}

async function namedIn(subject: Subject, records: ErasableRecords): Promise<readonly Subject[]> {
  const named: Subject[] = [];
  for await (const page of records.pagesOf(subject)) named.push(...page.flatMap((record) => record.named));
  return distinct(named);
}

function isUser({ kind }: Subject): boolean {
  return kind === "user";
}

function distinct(subjects: readonly Subject[]): readonly Subject[] {
  return [...new Map(subjects.map((subject) => [nameOf(subject), subject])).values()];
}
