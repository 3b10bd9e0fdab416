import type { SubjectPage } from "../../../adapters/dynamodb/subject-scan.ts";
import type { DigestOf } from "../../../adapters/erasure/subject-digest.ts";
import { nameOf, type Subject } from "../../../domain/event/subjects.ts";
import type { OnScanned } from "../core/scan-consent.ts";

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
