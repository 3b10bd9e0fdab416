import type { Revisions } from "../../adapters/dynamodb/versioned-records.ts";
import { nameOf, type Subject } from "../../domain/event/subjects.ts";

/** What is known of subjects, read once for each. */
export type KnownRecords = Pick<Revisions, "loadState" | "loadDataSets">;

export function knownRecords({ loadState, loadDataSets }: KnownRecords): KnownRecords {
  return { loadState: bySubject(loadState), loadDataSets: bySubject(loadDataSets) };
}

function bySubject<T>(load: (subject: Subject) => Promise<T>): (subject: Subject) => Promise<T> {
  const loaded = new Map<string, Promise<T>>();
  return (subject) => {
    const found = loaded.get(nameOf(subject)) ?? load(subject);
    loaded.set(nameOf(subject), found);
    return found;
  };
}
