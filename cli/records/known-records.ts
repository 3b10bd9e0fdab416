import type { VersionedRecords } from "../../adapters/dynamodb/versioned-records.ts";
import { nameOf, type Subject } from "../../domain/event/subjects.ts";

/** What is known of subjects, read once for each. */
export type KnownRecords = Pick<VersionedRecords, "loadState" | "loadDocuments">;

export function knownRecords({ loadState, loadDocuments }: KnownRecords): KnownRecords {
  return { loadState: bySubject(loadState), loadDocuments: bySubject(loadDocuments) };
}

function bySubject<T>(load: (subject: Subject) => Promise<T>): (subject: Subject) => Promise<T> {
  const loaded = new Map<string, Promise<T>>();
  return (subject) => {
    const found = loaded.get(nameOf(subject)) ?? load(subject);
    loaded.set(nameOf(subject), found);
    return found;
  };
}
