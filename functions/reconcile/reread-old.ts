import type { Subject } from "../../domain/event/subjects.ts";
import { isFetchedBefore, requestFetchFor } from "../../domain/fetch/document.ts";
import { correlationOfRun } from "../../domain/reconcile/reconciliation.ts";
import type { ReconcilerDependencies } from "./dependencies.ts";

/**
 * Wants the data of an account again that was fetched last before the setting's time: its tasks then come from the
 * stream, as all others do. One run wants a document once.
 * @returns how many documents were requested
 */
export async function rereadOld(
  subject: Subject,
  startedAt: string,
  { partitions, versionedRecords, settings, now }: ReconcilerDependencies,
): Promise<number> {
  const oldest = new Date(now().getTime() - settings.rereadAfterDays * 86_400_000).toISOString();
  let count = 0;
  for (const name of await partitions.documentsOf(subject)) {
    if (!isFetchedBefore(name, oldest)) continue;
    let isWanted = false;
    await versionedRecords.document(subject, name, (known) => {
      if (known === undefined || !isFetchedBefore(known, oldest)) return undefined;
      const next = requestFetchFor(known, subject, name, {
        key: `reread.${startedAt}`,
        correlationId: correlationOfRun(startedAt),
      });
      isWanted = next !== undefined;
      return next;
    });
    if (isWanted) count += 1;
  }
  return count;
}
