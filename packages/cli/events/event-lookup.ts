import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { type Partitions, partitions } from "../../../adapters/dynamodb/partitions.ts";
import {
  type StoredEvent,
  type StoredEvents,
  storedEvents,
} from "../../../adapters/dynamodb/stored-events.ts";
import { type EventProgress, progressOf, type SubjectRecords } from "../../../domain/event/event-progress.ts";
import { nameOf, type Subject, subjectOf } from "../../../domain/event/subjects.ts";
import { type KnownRecords, recordsIn } from "../records/known-records.ts";

export type LookupPorts = {
  readonly stored: StoredEvents;
  readonly partitions: Pick<Partitions, "accountsOf">;
  readonly records: KnownRecords;
};

export function lookupPorts(client: DynamoDBClient, tableName: string): LookupPorts {
  return {
    stored: storedEvents(client, tableName),
    partitions: partitions(client, tableName),
    records: recordsIn(client, tableName),
  };
}

/**
 * All stored events of a subject, in no order. A user's are also those of its accounts that reported no user; an
 * account's also those that reported its user, and so lie with it.
 */
export async function eventsOf(subject: Subject, ports: LookupPorts): Promise<readonly StoredEvent[]> {
  const { stored, partitions, records } = ports;
  const own = await stored.eventsOf(subject);
  if (subject.kind === "user") {
    const accounts = await partitions.accountsOf(subject.id);
    const others = await Promise.all(accounts.map((id) => stored.eventsOf({ kind: "account", id })));
    return [...own, ...others.flat()];
  }
  const { userId } = (await records.loadState(subject)) ?? {};
  if (userId === undefined) return own;
  const ofUser = await stored.eventsOf({ kind: "user", id: userId });
  return [...own, ...ofUser.filter(({ event }) => isAbout(subject, event))];
}

function isAbout({ kind, id }: Subject, event: StoredEvent["event"]): boolean {
  return (kind === "account" ? event.accountId : event.companyAccountId) === id;
}

/** Reports how far events have come. What is known of their subjects is read once for each subject. */
export function progressReader({
  records,
}: Pick<LookupPorts, "records">): (stored: StoredEvent) => Promise<EventProgress> {
  const known = new Map<string, Promise<SubjectRecords>>();
  return async (stored) => {
    const subject = subjectOf(stored.event);
    const name = nameOf(subject);
    const found = known.get(name) ?? recordsOf(subject, records);
    known.set(name, found);
    return progressOf(stored, await found);
  };
}

export async function recordsOf(
  subject: Subject,
  { loadState, loadDocuments }: KnownRecords,
): Promise<SubjectRecords> {
  const [state, documents] = await Promise.all([loadState(subject), loadDocuments(subject)]);
  return { state, documents };
}
