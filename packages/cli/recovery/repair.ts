import type { Underived } from "../../../adapters/aws/relay-invoker.ts";
import type { Key } from "../../../adapters/dynamodb/keys.ts";
import type { StoredPage } from "../../../adapters/streams/stored-changes.ts";
import { type IncomeEvent, subjectKindOf } from "../../../domain/event/events.ts";
import { subjectOf } from "../../../domain/event/subjects.ts";
import {
  needsRepair,
  type Period,
  repairsOfDocument,
  repairsOfEvent,
  repairsOfReadiness,
  repairsOfState,
  repairsOfUserReadiness,
} from "../../../domain/recovery/repair.ts";
import type { Change } from "../../../domain/state/change.ts";
import { changedAt } from "../../../domain/state/last-change.ts";
import type { State } from "../../../domain/state/state.ts";
import { type KnownRecords, knownRecords } from "../records/known-records.ts";

export type RepairPorts = {
  readonly pages: AsyncIterable<StoredPage>;
  readonly records: KnownRecords;
  readonly relay: (changes: readonly Change[]) => Promise<readonly Underived[]>;
  /** Called after each page with the number of items read and repaired so far. */
  readonly onPage: (examined: number, repaired: number) => void;
};

export type RepairCounts = { events: number; states: number; documents: number; readiness: number };

export type Repaired = {
  readonly repaired: Readonly<RepairCounts>;
  readonly failed: readonly Underived[];
  readonly unreadable: readonly Key[];
};

/**
 * Derives the messages and tasks of stored items again, page by page. Failures are reported and do not stop
 * it.
 */
export async function repair(ports: RepairPorts, period: Period): Promise<Repaired> {
  const repaired: RepairCounts = { events: 0, states: 0, documents: 0, readiness: 0 };
  const failed: Underived[] = [];
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

async function stateOf(event: IncomeEvent, { loadState }: KnownRecords): Promise<State | undefined> {
  return subjectKindOf(event.type) === "endpoint" ? undefined : loadState(subjectOf(event));
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
