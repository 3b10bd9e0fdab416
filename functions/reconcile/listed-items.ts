import { type Failure, failureOf, permanent } from "../../domain/core/failures.ts";
import { markOf, type Run } from "../../domain/reconcile/reconciliation.ts";
import { type Listed, type ListReader, readListed } from "../../domain/state/listing.ts";
import type { ReconcilerDependencies } from "./dependencies.ts";

type ListedItems = { readonly read: readonly Listed[]; readonly skipped: number };

/**
 * Parses the items of a page. An unreadable item is skipped and logged, so that it doesn't block the others.
 * @throws permanent failure if no item can be read: then a setting is wrong, not an item
 */
export function readItems(
  reader: ListReader,
  items: readonly unknown[],
  { search, log }: ReconcilerDependencies,
): ListedItems {
  // By id, because a list may name an item twice.
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

/** The items of a page that are not compared yet; all of them if the last compared one is not on it. */
export function itemsLeft(items: readonly Listed[], run: Run): readonly Listed[] {
  return items.slice(items.findIndex(({ id }) => markOf(run, id) === run.after) + 1);
}
