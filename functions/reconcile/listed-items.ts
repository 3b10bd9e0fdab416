import { type Failure, failureOf, permanent } from "../../domain/core/failures.ts";
import { markOf, type Run } from "../../domain/reconcile/reconciliation.ts";
import { type Listed, type ListReader, readListed } from "../../domain/state/listing.ts";
import type { ReconcilerDependencies } from "./dependencies.ts";

type ReadDependencies = Pick<ReconcilerDependencies, "search" | "log">;
type ListedItems = { readonly read: readonly Listed[]; readonly skipped: number };

/**
 * Reads the items of a page. One that can't be read is skipped and reported: it must not hold up the others.
 * @throws permanent failure where none can be read: then a setting is wrong, not an item
 */
export function readItems(
  reader: ListReader,
  items: readonly unknown[],
  { search, log }: ReadDependencies,
): ListedItems {
  // By id: a list may name the same one twice.
  const read = new Map<string, Listed>();
  const failures: Failure[] = [];
  for (const item of items) {
    try {
      const listed = readListed(reader, item, search);
      read.set(listed.id, listed);
    } catch (error) {
      failures.push(failureOf(error));
    }
  }
  const [first] = failures;
  if (first !== undefined && read.size === 0) throw permanent(first.reason);
  for (const { reason } of failures) log("RECONCILIATION_SKIPPED", { reason });
  return { read: [...read.values()], skipped: failures.length };
}

/** The users of a run's page that are not compared yet; all of them where the last one is not on the page any more. */
export function usersLeft(users: readonly Listed[], run: Run): readonly Listed[] {
  return users.slice(users.findIndex(({ id }) => markOf(run, id) === run.after) + 1);
}
