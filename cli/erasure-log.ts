import type { DigestOf } from "../adapters/subject-digest.ts";
import type { SubjectPage } from "../adapters/subject-scan.ts";
import { nameOf, type Subject } from "../domain/subjects.ts";
import type { OnScanned } from "./scan-consent.ts";

/** Finds who is in the table though the log says that they were erased. */
export async function findReturned(
  log: ReadonlySet<string>,
  pages: AsyncIterable<SubjectPage>,
  digestOf: DigestOf,
  onScanned: OnScanned,
): Promise<readonly Subject[]> {
  const found = new Map<string, Subject>();
  let read = 0;
  for await (const { items, subjects } of pages) {
    for (const subject of subjects) {
      if (log.has(await digestOf(subject))) found.set(nameOf(subject), subject);
    }
    read += items;
    onScanned(read, found.size);
  }
  return [...found.values()];
}
