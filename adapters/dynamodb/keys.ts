import type { Subject } from "../../domain/event/subjects.ts";
import { type DataName, nameOfData } from "../../domain/fetch/document-name.ts";

/** The table's keys: one partition per user, account and company account. Nothing else builds keys. */
export type Key = { readonly pk: string; readonly sk: string };

const prefixes = { user: "USER", account: "ACCOUNT", "company-account": "COMPANY" } as const;

export function partitionOf(subject: Subject): string {
  return `${prefixes[subject.kind]}#${subject.id}`;
}

/** What the sort keys of events begin with; the event's id follows. */
export const eventPrefix = "EVENT#";

export function eventKey(owner: Subject, id: string): Key {
  return { pk: partitionOf(owner), sk: `${eventPrefix}${id}` };
}

export function stateKey(subject: Subject): Key {
  return { pk: partitionOf(subject), sk: "STATE" };
}

/** How ready an account is. */
export function readinessKey(subject: Subject): Key {
  return { pk: partitionOf(subject), sk: "READINESS" };
}

/** What the sort keys of a subject's documents begin with, and of a user's links to accounts. */
export const documentPrefix = "DOCUMENT#";
export const linkPrefix = "ACCOUNT#";

export function documentKey(subject: Subject, name: DataName): Key {
  return { pk: partitionOf(subject), sk: `${documentPrefix}${nameOfData(name, "#")}` };
}

/** What the sort keys of superseded versions begin with. */
export const versionPrefix = "VERSION#";

/** A version of a document that was superseded, in the order of versions. */
export function versionKey(subject: Subject, name: DataName, announced: number): Key {
  return { pk: partitionOf(subject), sk: `${versionPrefix}${nameOfVersion(name, announced)}` };
}

/** What the sort keys of superseded objects begin with. */
export const supersededPrefix = "SUPERSEDED#";

/** Until when the object of a version stays that was superseded. */
export function supersededKey(subject: Subject, name: DataName, announced: number): Key {
  return { pk: partitionOf(subject), sk: `${supersededPrefix}${nameOfVersion(name, announced)}` };
}

/** The longest number of milliseconds that is a date. */
const digitsOfTime = 16;

/** No name of data contains what stands before the version. */
function nameOfVersion(name: DataName, announced: number): string {
  return `${nameOfData(name, "#")}@${String(announced).padStart(digitsOfTime, "0")}`;
}

/** The legal hold on a subject. */
export function holdKey(subject: Subject): Key {
  return { pk: partitionOf(subject), sk: "HOLD" };
}

/** Joins an account to its user, in the user's partition. */
export function linkKey(userId: string, accountId: string): Key {
  return { pk: partitionOf({ kind: "user", id: userId }), sk: `${linkPrefix}${accountId}` };
}

/** The counter of calls in one window of the provider's rate, by when it begins (milliseconds since 1970). */
export function callWindowKey(begin: number): Key {
  return { pk: "PROVIDER", sk: `WINDOW#${begin}` };
}

/** Whether the provider is called at all. */
export const breakerKey: Key = { pk: "PROVIDER", sk: "BREAKER" };

/** Which version of the token the provider refuses. */
export const refusalNoteKey: Key = { pk: "PROVIDER", sk: "REFUSED-TOKEN" };

/** How far the comparison with the provider's list of users has come. */
export const reconciliationKey: Key = { pk: "RECONCILE", sk: "USERS" };

/** That a run was asked for, because webhooks were lost. */
export const runRequestKey: Key = { pk: "RECONCILE", sk: "REQUEST" };

/** An orphan's mark, or the deletion that it became. They name an account, so an erasure removes both. */
export function orphanKey(item: "mark" | "deletion", accountId: string): Key {
  return { pk: "ORPHANS", sk: `${item.toUpperCase()}#${accountId}` };
}

/** Who was erased, by digest: nobody can tell from it who that was. */
export function tombstoneKey(digest: string): Key {
  return { pk: `ERASED#${digest}`, sk: "TOMBSTONE" };
}

export function isTombstone({ sk }: Key): boolean {
  return sk === tombstoneKey("").sk;
}

/** How far an erasure that somebody follows has come. */
export function erasureReportKey(id: string): Key {
  return { pk: `ERASURE#${id}`, sk: "REPORT" };
}

/** Which erasure's run looks through the dead letters: one at a time. */
export const sweepLeaseKey: Key = { pk: "ERASURES", sk: "SWEEP" };

/** Whose partition it is; undefined where it is none of a subject. */
export function subjectOfPartition(partition: string): Subject | undefined {
  for (const kind of ["user", "account", "company-account"] as const) {
    const prefix = `${prefixes[kind]}#`;
    if (partition.startsWith(prefix)) return { kind, id: partition.slice(prefix.length) };
  }
  return undefined;
}

/** What operators did, in the order of time. */
export function auditKey(at: string, id: string): Key {
  return { pk: "AUDIT", sk: `${at}#${id}` };
}

/** How often a record of the stream ended the relay's process. */
export function relayMarkKey(sequenceNumber: string): Key {
  return { pk: "RELAY", sk: `MARK#${sequenceNumber}` };
}

/** How far a replay has come. */
export function replayKey(id: string): Key {
  return { pk: "REPLAY", sk: id };
}
