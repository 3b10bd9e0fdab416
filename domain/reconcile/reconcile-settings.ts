import { fieldsOf, numberOf } from "../core/parse.ts";
import { type ListReader, parseListReader } from "../state/listing.ts";
import type { MissedSettings } from "./missed.ts";
import type { MaxDeletions } from "./orphans.ts";

/** How to compare the table with the provider's lists. */
export type ReconcileSettings = {
  /** Time between the starts of two runs. */
  readonly everyHours: number;
  /** Subjects created this recently are skipped, because their webhook may still arrive. */
  readonly graceMinutes: number;
  readonly rereadAfterDays: number;
  readonly maxDeletions: MaxDeletions;
  /** Time between finding a deletion and querying the provider again. */
  readonly askAgainAfterHours: number;
  readonly missed: MissedSettings;
  readonly readers: { readonly users: ListReader; readonly accounts: ListReader };
};

/**
 * @param ids whether ids must be UUIDs, by kind, as in the mappings
 * @throws permanent failure naming the setting
 */
export function parseReconcileSettings(value: unknown, ids: unknown): ReconcileSettings {
  const fields = fieldsOf(value, "reconcile");
  const { users, accounts } = fieldsOf(ids, "ids");
  const missed = fieldsOf(fields.missed, "reconcile.missed");
  const maxDeletions = fieldsOf(fields.maxDeletions, "reconcile.maxDeletions");
  return {
    everyHours: numberOf(fields, "everyHours"),
    graceMinutes: numberOf(fields, "graceMinutes"),
    rereadAfterDays: numberOf(fields, "rereadAfterDays"),
    maxDeletions: {
      percent: numberOf(maxDeletions, "percent"),
      atLeast: numberOf(maxDeletions, "atLeast"),
    },
    askAgainAfterHours: numberOf(fields, "askAgainAfterHours"),
    missed: {
      atMostEveryMinutes: numberOf(missed, "atMostEveryMinutes"),
      gapMinutes: numberOf(missed, "gapMinutes"),
      minuteInMillis: missed.minuteInMillis === undefined ? 60_000 : numberOf(missed, "minuteInMillis"),
    },
    readers: {
      users: parseListReader("reconcile.users", fields.users, users),
      accounts: parseListReader("reconcile.accounts", fields.accounts, accounts),
    },
  };
}
