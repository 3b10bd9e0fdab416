import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { checkSchemaVersion, type Fields } from "../../domain/core/parse.ts";
import type { Subject } from "../../domain/event/subjects.ts";
import { type DataName, nameOfData } from "../../domain/fetch/document.ts";

/** A key of the table. Each user, account and company account has a partition. Only this file builds keys. */
export type Key = { readonly pk: string; readonly sk: string };

const prefixes = { user: "USER", account: "ACCOUNT", "company-account": "COMPANY" } as const;

export function partitionOf(subject: Subject): string {
  return `${prefixes[subject.kind]}#${subject.id}`;
}

/** Prefix of the sort keys of events; the event's id follows. */
export const eventPrefix = "EVENT#";

export function eventKey(owner: Subject, id: string): Key {
  return { pk: partitionOf(owner), sk: `${eventPrefix}${id}` };
}

export function stateKey(subject: Subject): Key {
  return { pk: partitionOf(subject), sk: "STATE" };
}

/** The readiness of an account or a user. */
export function readinessKey(subject: Subject): Key {
  return { pk: partitionOf(subject), sk: "READINESS" };
}

/** Prefixes of the sort keys of a subject's documents, and of a user's links to accounts. */
export const documentPrefix = "DOCUMENT#";
export const linkPrefix = "ACCOUNT#";

export function documentKey(subject: Subject, name: DataName): Key {
  return { pk: partitionOf(subject), sk: `${documentPrefix}${nameOfData(name, "#")}` };
}

/** Prefix of the sort keys of superseded versions. */
export const versionPrefix = "VERSION#";

/** A superseded version of a document. Keys sort by version. */
export function versionKey(subject: Subject, name: DataName, announced: number): Key {
  return { pk: partitionOf(subject), sk: `${versionPrefix}${nameOfVersion(name, announced)}` };
}

/** Prefix of the sort keys of superseded objects. */
export const supersededPrefix = "SUPERSEDED#";

/** The record of how long the object of a superseded version is kept. */
export function supersededKey(subject: Subject, name: DataName, announced: number): Key {
  return { pk: partitionOf(subject), sk: `${supersededPrefix}${nameOfVersion(name, announced)}` };
}

/** Digits of the largest time that `Date` can hold, in milliseconds. */
const digitsOfTime = 16;

/** Names of data never contain the `@` that precedes the version. */
function nameOfVersion(name: DataName, announced: number): string {
  return `${nameOfData(name, "#")}@${String(announced).padStart(digitsOfTime, "0")}`;
}

export function holdKey(subject: Subject): Key {
  return { pk: partitionOf(subject), sk: "HOLD" };
}

/** Links an account to its user, in the user's partition. */
export function linkKey(userId: string, accountId: string): Key {
  return { pk: partitionOf({ kind: "user", id: userId }), sk: `${linkPrefix}${accountId}` };
}

/** The counter of calls in one window of the provider's rate limit. @param begin milliseconds since 1970 */
export function callWindowKey(begin: number): Key {
  return { pk: "PROVIDER", sk: `WINDOW#${begin}` };
}

/** The counter of calls per minute that environments reserved in a period. @param begin milliseconds since 1970 */
export function callReservationKey(begin: number): Key {
  return { pk: "PROVIDER", sk: `RESERVED#${begin}` };
}

export const breakerKey: Key = { pk: "PROVIDER", sk: "BREAKER" };

/** The version of the token that the provider refuses. */
export const refusalNoteKey: Key = { pk: "PROVIDER", sk: "REFUSED-TOKEN" };

/** Progress of the comparison with the provider's list of users. */
export const reconciliationKey: Key = { pk: "RECONCILE", sk: "USERS" };

/** A request for a reconciliation run, made because webhooks were lost. */
export const runRequestKey: Key = { pk: "RECONCILE", sk: "REQUEST" };

/** An orphan's mark, or the deletion that followed it. Both name an account, so an erasure removes them. */
export function orphanKey(item: "mark" | "deletion", accountId: string): Key {
  return { pk: "ORPHANS", sk: `${item.toUpperCase()}#${accountId}` };
}

/** The tombstone of an erased subject. The digest does not reveal who it was. */
export function tombstoneKey(digest: string): Key {
  return { pk: `ERASED#${digest}`, sk: "TOMBSTONE" };
}

export function isTombstone({ sk }: Key): boolean {
  return sk === tombstoneKey("").sk;
}

/** The report on an erasure's progress. */
export function erasureReportKey(id: string): Key {
  return { pk: `ERASURE#${id}`, sk: "REPORT" };
}

/** The lease on searching the dead letters: one erasure at a time. */
export const sweepLeaseKey: Key = { pk: "ERASURES", sk: "SWEEP" };

/** The subject of a partition; undefined if the partition is not a subject's. */
export function subjectOfPartition(partition: string): Subject | undefined {
  for (const kind of ["user", "account", "company-account"] as const) {
    const prefix = `${prefixes[kind]}#`;
    if (partition.startsWith(prefix)) return { kind, id: partition.slice(prefix.length) };
  }
  return undefined;
}

/** Operators' actions, in order of time. */
export function auditKey(at: string, id: string): Key {
  return { pk: "AUDIT", sk: `${at}#${id}` };
}

/** How often a stream record crashed the relay. */
export function relayMarkKey(sequenceNumber: string): Key {
  return { pk: "RELAY", sk: `MARK#${sequenceNumber}` };
}

/** Prefix of the sort keys of synthetic events, which belong to no subject. */
export const canaryPrefix = "CANARY#";

export function canaryKey(id: string): Key {
  return { pk: "CANARY", sk: `${canaryPrefix}${id}` };
}

export function replayKey(id: string): Key {
  return { pk: "REPLAY", sk: id };
}

/** The schema version of items that this release writes. */
export const itemVersion = 1;

/**
 * Reads an item, or its image in the stream. An item without a version counts as version 1: release 0.1.0 wrote the
 * breaker, windows, claims and notes without one.
 * @throws retryable failure if a later release wrote it
 */
export function readItem(item: Record<string, AttributeValue>): Fields {
  const fields = unmarshall(item);
  checkSchemaVersion(fields.schemaVersion ?? 1, itemVersion);
  return fields;
}
