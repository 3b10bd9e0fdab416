import type { FailedChange, RelayRecords } from "../../../adapters/aws/relay-invoker.ts";
import type { Key } from "../../../adapters/dynamodb/keys.ts";
import type { StoredPage } from "../../../adapters/streams/stored-changes.ts";
import type { FailedBatch } from "../../../adapters/streams/undelivered-changes.ts";
import { failureOf } from "../../../domain/core/failures.ts";
import { present } from "../../../domain/core/parse.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import {
  changedAt,
  needsRepair,
  type Period,
  repairsOfDocument,
  repairsOfEvent,
  repairsOfReadiness,
  repairsOfState,
  repairsOfUserReadiness,
} from "../../../domain/recovery/repair.ts";
import type { Change } from "../../../domain/state/change.ts";
import type { State } from "../../../domain/state/state.ts";
import { CommandError } from "../core/command-error.ts";
import { periodFlags, type SubjectFlags, subjectFlag, type TextFlags } from "../core/flags.ts";
import { type KnownRecords, knownRecords, stateOf } from "../records/known-records.ts";

export type RepairPorts = {
  readonly pages: AsyncIterable<StoredPage>;
  readonly records: KnownRecords;
  readonly relay: (changes: readonly Change[]) => Promise<readonly FailedChange[]>;
  /** Called after each page with the number of items read and repaired so far. */
  readonly onPage: (examined: number, repaired: number) => void;
};

export type Repaired = Awaited<ReturnType<typeof repair>>;

/**
 * Derives the messages and tasks of stored items again, page by page. Failures are reported and do not stop
 * it.
 */
export async function repair(ports: RepairPorts, period: Period) {
  const repaired = { events: 0, states: 0, documents: 0, readiness: 0 };
  const failed: FailedChange[] = [];
  const unreadable: Key[] = [];
  let examined = 0;
  for await (const page of ports.pages) {
    const wanted = page.found.map(({ change }) => change).filter((change) => needsRepair(change, period));
    for (const { type: of } of wanted) repaired[countOf[of]] += 1;
    failed.push(...(await ports.relay(await repairsOf(wanted, period, ports.records))));
    unreadable.push(...page.unreadable);
    examined += page.examined;
    const { events, states, documents, readiness } = repaired;
    ports.onPage(examined, events + states + documents + readiness);
  }
  return { repaired, failed, unreadable };
}

const countOf = {
  event: "events",
  state: "states",
  document: "documents",
  readiness: "readiness",
  userReadiness: "readiness",
} as const;

/** Each page reads its subjects once. */
async function repairsOf(
  changes: readonly Change[],
  period: Period,
  known: KnownRecords,
): Promise<readonly Change[]> {
  const records = knownRecords(known);
  const lists = changes.map(async (change) => {
    switch (change.type) {
      case "event":
        return repairsOfEvent(change, await stateOf(change.event, records), period);
      case "state":
        return repairsOfState(change.after, await isRead(change.after, records));
      case "document":
        return repairsOfDocument(change.after);
      case "readiness":
        return repairsOfReadiness(change.after);
      case "userReadiness":
        return repairsOfUserReadiness(change.after);
    }
  });
  return (await Promise.all(lists)).flat();
}

/** Whether there is nothing to start: the account is not connected, or a document was read since. */
async function isRead(
  { subject, connected, deleted, latest }: State,
  { loadDocuments }: KnownRecords,
): Promise<boolean> {
  if (connected !== true || deleted) return true;
  const since = Date.parse(changedAt(latest) ?? "");
  return (await loadDocuments(subject)).some(({ asOf }) => asOf > since);
}

export type RepairedFailures = Awaited<ReturnType<typeof repairFailures>>;

/**
 * Relays parked batches. A batch that can't be relayed completely stays, and is relayed again completely the
 * next time.
 * @returns how many batches were relayed completely and removed, and the keys of those that remain
 */
export async function repairFailures(
  batches: AsyncIterable<FailedBatch>,
  relay: RelayRecords,
  dryRun: boolean,
  onBatch: (batches: number, key: string) => void,
) {
  const kept: { key: string; reason: string }[] = [];
  let count = 0;
  let changes = 0;
  for await (const { key, read, remove } of batches) {
    const records = await read().catch((error: unknown) => failureOf(error).reason);
    if (typeof records === "string") {
      kept.push({ key, reason: records });
      continue;
    }
    const [first, ...others] = await relay(records);
    if (first !== undefined) {
      kept.push({ key, reason: `${others.length + 1} of ${records.length} changes: ${first.reason}` });
      continue;
    }
    if (!dryRun) await remove();
    count += 1;
    changes += records.length;
    onBatch(count, key);
  }
  return { batches: count, changes, kept };
}

export type ScopeFlags = SubjectFlags &
  TextFlags<"since" | "until"> & { readonly all?: boolean; readonly failures?: boolean };

export type RepairScope = { readonly subject: Subject | undefined; readonly period: Period };

/** @returns undefined if the table is not to be read. @throws CommandError if nothing is to be repaired */
export function repairScope(flags: ScopeFlags, now: Date): RepairScope | undefined {
  const subject = subjectFlag(flags);
  const period = present<Period>(periodFlags(flags, now));
  const { all = false, failures = false } = flags;
  const isNarrowed = subject !== undefined || period.since !== undefined || period.until !== undefined;
  if (all && isNarrowed)
    throw CommandError.usage("--all is everything: leave out what narrows it, or leave out --all.");
  if (all || isNarrowed) return { subject, period };
  if (failures) return undefined;
  throw CommandError.usage(
    "Choose what to repair: --failures (undelivered changes), --since and --until (an outage), --user, --account, --company-account, or --all.",
  );
}
