import type { StoredEvent } from "../../../adapters/dynamodb/stored-events.ts";
import { nameOf, ownerOf, type Subject } from "../../../domain/event/subjects.ts";
import { CommandError } from "../core/command-error.ts";
import type { OnScanned } from "../core/scan-consent.ts";
import { eventsOf, type LookupPorts } from "./event-lookup.ts";

export type FindPorts = LookupPorts & { readonly onScanned: OnScanned };

/** @throws CommandError where no event's id can begin so */
export function checkEventId(begins: string): void {
  if (/^[\w-]{1,43}$/.test(begins)) return;
  throw CommandError.usage(
    `<id> ${JSON.stringify(begins)} is no event's: it has up to 43 letters, digits, "-" and "_". See events list.`,
  );
}

/**
 * Finds the one event whose id begins so; undefined where none is stored.
 * @param subject whose event it is; absent: anybody's, which reads the whole table
 * @throws CommandError where there are more than one
 */
export async function findEvent(
  begins: string,
  subject: Subject | undefined,
  ports: FindPorts,
): Promise<StoredEvent | undefined> {
  const found = subject === undefined ? await scan(begins, ports) : await eventsOf(subject, ports);
  const [event, ...others] = found.filter(({ event: { id } }) => id.startsWith(begins));
  if (event !== undefined && others.length > 0)
    throw CommandError.usage(ambiguous(begins, [event, ...others]));
  return event;
}

async function scan(begins: string, { stored, onScanned }: FindPorts): Promise<readonly StoredEvent[]> {
  const found: StoredEvent[] = [];
  let read = 0;
  for await (const { events, examined } of stored.scan(begins)) {
    found.push(...events);
    read += examined;
    onScanned(read, found.length);
  }
  return found;
}

/** An end for an id that names nothing. */
export function noSuchEvent(begins: string, subject: Subject | undefined): CommandError {
  const whose = subject === undefined ? "No event" : `No event of ${nameOf(subject)}`;
  return new CommandError(
    "nobody",
    `${whose} with an <id> that begins with ${begins} is stored, or among the dead letters of webhooks. ` +
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
