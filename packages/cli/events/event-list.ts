import type { StoredEvent } from "../../../adapters/dynamodb/stored-events.ts";
import {
  type EventFilter,
  type EventProgress,
  type EventState,
  selects,
} from "../../../domain/event/event-progress.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import { unknownSubject } from "../core/flags.ts";
import { scanFor } from "../core/scan-consent.ts";
import { compareTexts } from "../core/text.ts";
import { eventsOf, type LookupPorts, progressReader, recordsOf } from "./event-lookup.ts";

export type EventQuery = {
  /** The subject whose events to list; if undefined, the whole table is read. */
  readonly subject?: Subject;
  readonly filter: EventFilter;
  readonly state?: EventState;
  readonly limit: number;
};

export type ListedEvent = StoredEvent & { readonly progress: EventProgress };

/** Lists stored events, the newest first. @throws CommandError if the subject is unknown */
export async function listEvents(query: EventQuery, ports: LookupPorts): Promise<readonly ListedEvent[]> {
  const { subject, filter, limit } = query;
  const found =
    subject === undefined
      ? await scan(query, ports)
      : newestFirst((await knownEventsOf(subject, ports)).filter(({ event }) => selects(filter, event)));
  const progressOf = progressReader(ports);
  const listed: ListedEvent[] = [];
  for (const stored of found) {
    if (listed.length === limit) break;
    const progress = await progressOf(stored);
    if (query.state === undefined || progress.state === query.state) listed.push({ ...stored, progress });
  }
  return listed;
}

/**
 * @throws CommandError if the subject is unknown, so that a mistyped id is not taken for a subject without
 * events
 */
async function knownEventsOf(subject: Subject, ports: LookupPorts): Promise<readonly StoredEvent[]> {
  const events = await eventsOf(subject, ports);
  if (events.length > 0) return events;
  const { state, documents } = await recordsOf(subject, ports.records);
  if (state === undefined && documents.length === 0) throw unknownSubject(subject);
  return events;
}

function scan({ filter, state, limit }: EventQuery, ports: LookupPorts): Promise<readonly StoredEvent[]> {
  return scanFor(
    ports.stored.scan(),
    ({ events }) => events.filter(({ event }) => selects(filter, event)),
    ports.onScanned,
    // With a filter for the state, all events are kept until their states are known.
    (kept) => newestFirst(kept).slice(0, state === undefined ? limit : undefined),
  );
}

/** Events that were received at the same moment are ordered by id. */
function newestFirst(events: readonly StoredEvent[]): readonly StoredEvent[] {
  return events.toSorted(
    ({ event: one }, { event: other }) =>
      compareTexts(other.receivedAt, one.receivedAt) || compareTexts(one.id, other.id),
  );
}
