import type { VersionedRecords } from "../../adapters/dynamodb/versioned-records.ts";
import { type DocumentRecord, fetched } from "../../domain/fetch/document.ts";
import type { TaskOf } from "../../domain/fetch/tasks.ts";
import type { FetcherDependencies } from "./dependencies.ts";
import { type PagesDependencies, readPages } from "./read-pages.ts";

/** What a read needs of the fetcher. */
export type ReadDependencies = Pick<FetcherDependencies, "gate" | "claimData" | "storeContent" | "now"> & {
  readonly versionedRecords: Pick<VersionedRecords, "loadDocument" | "document">;
} & PagesDependencies;

/**
 * Reads an endpoint's data and stores it: one call for all that was requested of it when it was looked at.
 * @returns whether the provider was called; false where the task was overtaken
 * @throws a failure that waits while another task's call covers the same
 */
export async function read(task: TaskOf<"read">, dependencies: ReadDependencies): Promise<boolean> {
  const { subject } = task;
  const { versionedRecords, claimData, gate, now } = dependencies;
  // Before anything is looked at: while the provider is down a task comes back many times, and costs no read then.
  await gate();
  const lookedAt = now();
  const known = await versionedRecords.loadDocument(subject, task);
  if (known === undefined || task.wanted <= known.done) return false;
  const giveBack = await claimData(subject, task, known.wanted, lookedAt);
  const noted = task.progress?.noted ?? known.wanted;
  try {
    await fetchData(task, known, noted, dependencies);
    // What was requested while a list was read is another task's, which need not wait for the claim's end.
    if (noted < known.wanted) await giveBack();
  } catch (error) {
    await giveBack();
    throw error;
  }
  return true;
}

/**
 * @param known the document as it was before the call; mostly it still is
 * @param noted what was requested before the call: what is requested during it may be news that the answer lacks
 */
async function fetchData(
  task: TaskOf<"read">,
  known: DocumentRecord,
  noted: number,
  dependencies: ReadDependencies,
): Promise<void> {
  const { subject } = task;
  const { versionedRecords, storeContent, now } = dependencies;
  const content = await readPages({ ...dependencies, task, noted });
  // The data first, what is known of it after: a crash between the two fetches again, and forgets nothing. Stored
  // even where the digest is known already: a slower fetch may have put older data there since it was noted.
  await storeContent(subject, task, noted, content);
  const done = (current: DocumentRecord | undefined) =>
    current === undefined
      ? undefined
      : fetched(current, noted, content?.digest, { at: now(), correlationId: task.correlationId });
  await versionedRecords.document(subject, task, done, known);
}
