import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { type Partitions, partitions } from "../../adapters/dynamodb/partitions.ts";
import { type StoredEvent, type StoredEvents, storedEvents } from "../../adapters/dynamodb/stored-events.ts";
import { type VersionedRecords, versionedRecords } from "../../adapters/dynamodb/versioned-records.ts";
import { type EventProgress, progressOf, type SubjectRecords } from "../../domain/event/event-progress.ts";
import { nameOf, type Subject, subjectOf } from "../../domain/event/subjects.ts";

export type LookupPorts = {
  readonly stored: StoredEvents;
  readonly partitions: Pick<Partitions, "accountsOf">;
  readonly versionedRecords: Pick<VersionedRecords, "loadState" | "loadDocuments">;
};

export function lookupPorts(client: DynamoDBClient, tableName: string): LookupPorts {
  return {
    stored: storedEvents(client, tableName),
    partitions: partitions(client, tableName),
    versionedRecords: versionedRecords(client, tableName),
  };
}

/**
 * All stored events of a subject, in no order. A user's are also those of its accounts that reported no user; an
 * account's also those that reported its user, and so lie with it.
 */
export async function eventsOf(subject: Subject, ports: LookupPorts): Promise<readonly StoredEvent[]> {
  const { stored, partitions, versionedRecords } = ports;
  const own = await stored.eventsOf(subject);
  if (subject.kind === "user") {
    const accounts = await partitions.accountsOf(subject.id);
    const others = await Promise.all(accounts.map((id) => stored.eventsOf({ kind: "account", id })));
    return [...own, ...others.flat()];
  }
  const { userId } = (await versionedRecords.loadState(subject)) ?? {};
  if (userId === undefined) return own;
  const ofUser = await stored.eventsOf({ kind: "user", id: userId });
  return [...own, ...ofUser.filter(({ event }) => isAbout(subject, event))];
}

function isAbout({ kind, id }: Subject, event: StoredEvent["event"]): boolean {
  return (kind === "account" ? event.accountId : event.companyAccountId) === id;
}

/** Reports how far events have come. What is known of their subjects is read once for each subject. */
export function progressReader({
  versionedRecords,
}: Pick<LookupPorts, "versionedRecords">): (stored: StoredEvent) => Promise<EventProgress> {
  const known = new Map<string, Promise<SubjectRecords>>();
  return async ({ event }) => {
    const subject = subjectOf(event);
    const name = nameOf(subject);
    const records = known.get(name) ?? recordsOf(subject, versionedRecords);
    known.set(name, records);
    return progressOf(event, await records);
  };
}

export async function recordsOf(
  subject: Subject,
  versionedRecords: LookupPorts["versionedRecords"],
): Promise<SubjectRecords> {
  const [state, documents] = await Promise.all([
    versionedRecords.loadState(subject),
    versionedRecords.loadDocuments(subject),
  ]);
  return { state, documents };
}
