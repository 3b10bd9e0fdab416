import { partitions } from "../../../adapters/dynamodb/event-table.ts";
import { type StoredEvent, storedEvents } from "../../../adapters/dynamodb/stored-events.ts";
import { type EventProgress, progressOf, type SubjectRecords } from "../../../domain/event/event-progress.ts";
import { nameOf, ownerOf, type Subject, subjectOf } from "../../../domain/event/subjects.ts";
import type { Place } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { type OnScanned, scanFor } from "../core/scan-consent.ts";
import { accountsOf, type KnownRecords, knownRecords, recordsIn } from "../records/known-records.ts";

export type LookupPorts = ReturnType<typeof lookupPorts>;

/** @param onScanned called after each page of a scan */
export function lookupPorts(place: Place, onScanned: OnScanned = () => undefined) {
  const [{ dynamodb }, table] = [place.clients, place.deployment.output("TableName")];
  return {
    stored: storedEvents(dynamodb, table),
    partitions: partitions(dynamodb, table),
    records: recordsIn(place),
    onScanned,
  };
}

/**
 * All stored events of a subject, unordered. A user's include those of its accounts that named no user; an
 * account's include those that named its user and are stored in the user's partition.
 */
export async function eventsOf(subject: Subject, ports: LookupPorts): Promise<readonly StoredEvent[]> {
  const { stored, partitions, records } = ports;
  const own = await stored.eventsOf(subject);
  if (subject.kind === "user") {
    const accounts = await accountsOf(subject, partitions);
    const others = await Promise.all(accounts.map(stored.eventsOf));
    return [...own, ...others.flat()];
  }
  const { userId } = (await records.loadState(subject)) ?? {};
  if (userId === undefined) return own;
  const ofUser = await stored.eventsOf({ kind: "user", id: userId });
  const isAbout = ({ event }: StoredEvent) =>
    (subject.kind === "account" ? event.accountId : event.companyAccountId) === subject.id;
  return [...own, ...ofUser.filter(isAbout)];
}

/** Reports the progress of events. Reads each subject once. */
export function progressReader({ records }: Pick<LookupPorts, "records">) {
  const known = knownRecords(records);
  return async (stored: StoredEvent): Promise<EventProgress> =>
    progressOf(stored, await recordsOf(subjectOf(stored.event), known));
}

export async function recordsOf(
  subject: Subject,
  { loadState, loadDocuments }: KnownRecords,
): Promise<SubjectRecords> {
  const [state, documents] = await Promise.all([loadState(subject), loadDocuments(subject)]);
  return { state, documents };
}

/** @throws CommandError if no event's id can begin like this */
export function checkEventId(begins: string): void {
  if (/^[\w-]{1,43}$/.test(begins)) return;
  throw CommandError.usage(
    `<id> ${JSON.stringify(begins)} is not the id of an event, which has up to 43 letters, digits, "-" and "_". List events: npx income-events events list`,
  );
}

/**
 * Finds a stored event by a prefix of its id.
 * @param subject of the event; if undefined, the whole table is read
 * @throws CommandError if there are several
 */
export async function findEvent(
  begins: string,
  subject: Subject | undefined,
  ports: LookupPorts,
): Promise<StoredEvent | undefined> {
  const { stored, onScanned } = ports;
  const found =
    subject === undefined
      ? await scanFor(stored.scan(begins), ({ events }) => events, onScanned)
      : await eventsOf(subject, ports);
  const [event, ...others] = found.filter(({ event: { id } }) => id.startsWith(begins));
  if (event !== undefined && others.length > 0)
    throw CommandError.usage(ambiguous(begins, [event, ...others]));
  return event;
}

/** The error for an unknown event id. */
export function noSuchEvent(begins: string, subject: Subject | undefined): CommandError {
  const whose = subject === undefined ? "" : ` of ${nameOf(subject)}`;
  return new CommandError(
    "nobody",
    `No stored event${whose}, and no dead letter of a webhook, has an id that begins with ${begins}. ` +
      "List events: npx income-events events list",
  );
}

const maxNamed = 5;

function ambiguous(begins: string, events: readonly StoredEvent[]): string {
  const lines = events
    .slice(0, maxNamed)
    .map(({ event }) => `  ${event.id}  ${event.type} of ${nameOf(ownerOf(event))}`);
  const more = events.length > maxNamed ? [`  and ${events.length - maxNamed} more`] : [];
  return [
    `<id> ${begins} matches ${events.length} events. Write more of it, or add --user or --account:`,
    ...lines,
    ...more,
  ].join("\n");
}
