import type { DigestOf } from "../adapters/subject-digest.ts";
import type { SubjectPage } from "../adapters/subject-scan.ts";
import { nameOf, type Subject } from "../domain/subjects.ts";
import type { Terminal } from "./terminal.ts";

/** After so many items the reader of a long scan hears how far it has come. */
const itemsBetweenLines = 100_000;

/** Finds who is in the table though the log says that they were erased. */
export async function findReturned(
  log: ReadonlySet<string>,
  pages: AsyncIterable<SubjectPage>,
  digestOf: DigestOf,
  { progress }: Pick<Terminal, "progress">,
): Promise<readonly Subject[]> {
  const found = new Map<string, Subject>();
  let seen = 0;
  for await (const { items, subjects } of pages) {
    for (const subject of subjects) {
      if (log.has(await digestOf(subject))) found.set(nameOf(subject), subject);
    }
    const before = Math.floor(seen / itemsBetweenLines);
    seen += items;
    if (Math.floor(seen / itemsBetweenLines) > before)
      progress(`${seen} items looked at, ${found.size} found.`);
  }
  return [...found.values()];
}
