import { type Fields, fieldsOf, isFields, numberOf, optionalText, present, textOf } from "../core/parse.ts";
import type { IncomeEvent } from "../event/events.ts";
import { isUnordered } from "../event/events.ts";
import { parseSubject, type Subject } from "../event/subjects.ts";
import {
  addReceipt,
  type LastChange,
  type ProcessedReceipts,
  parseLastChange,
  parseProcessedReceipts,
  receiptKey,
} from "../state/last-change.ts";
import { type DataName, parseDataName } from "./document-name.ts";

/**
 * What is known of one endpoint's data, all of it or a range: not the data, but how much was requested and fetched.
 * Coalescing counts, it trusts no clock: each event raises `wanted`; a fetch notes it before calling, and writes it as
 * `done` with the data. A task that is not above `done` is void.
 */
export type DocumentRecord = DataName & {
  readonly subject: Subject;
  /** Rises by one with each change; the `sequence` of messages. */
  readonly version: number;
  readonly wanted: number;
  readonly done: number;
  /** Digest of the data that was stored last; absent where there is none, or none any more. */
  readonly content?: string;
  /** When the last fetch was answered, ISO 8601, whether it brought data or none. */
  readonly fetchedAt?: string;
  /** Which version notified subscribers of `content`, and when, ISO 8601: whoever replays it names that one. */
  readonly announced?: Announced;
  readonly judged: ProcessedReceipts;
  readonly latest: LastChange;
};

type Announced = { readonly version: number; readonly at: string; readonly correlationId?: string };

/** @throws permanent failure naming the field */
export function parseDocumentRecord(value: unknown): DocumentRecord {
  const fields = fieldsOf(value, "data");
  return present<DocumentRecord>({
    subject: parseSubject(fields.subject),
    ...parseDataName(fields),
    version: numberOf(fields, "version"),
    wanted: numberOf(fields, "wanted"),
    done: numberOf(fields, "done"),
    content: optionalText(fields, "content"),
    fetchedAt: optionalText(fields, "fetchedAt"),
    announced: isFields(fields.announced) ? parseAnnounced(fields.announced) : undefined,
    judged: parseProcessedReceipts(fields),
    latest: parseLastChange(fields.latest),
  });
}

function parseAnnounced(fields: Fields): Announced {
  const correlation = present({ correlationId: optionalText(fields, "correlationId") });
  return { version: numberOf(fields, "version"), at: textOf(fields, "at"), ...correlation };
}

function nothingKnown(subject: Subject, { endpoint, range }: DataName): DocumentRecord {
  const latest: LastChange = { cause: "again" };
  return { subject, endpoint, ...present({ range }), version: 0, wanted: 0, done: 0, judged: [], latest };
}

/**
 * Takes one receipt of an endpoint event into account.
 * @returns the next document, or undefined where the receipt was processed before or is a known retry
 */
export function requestFetch(
  known: DocumentRecord | undefined,
  subject: Subject,
  name: DataName,
  { event, receipts }: { readonly event: IncomeEvent; readonly receipts: number },
): DocumentRecord | undefined {
  const before = known ?? nothingKnown(subject, name);
  const key = receiptKey(event, receipts);
  const isAgain = receipts > 1;
  if (before.judged.includes(key) || (isAgain && !isUnordered(event))) return undefined;
  // With no data available yet there is nothing to read: a later event will say so.
  const raise = event.dataAvailable === false ? 0 : 1;
  if (isAgain && raise === 0) return undefined;
  return {
    ...before,
    version: before.version + 1,
    wanted: before.wanted + raise,
    judged: addReceipt(before.judged, key),
    latest: isAgain
      ? { cause: "again", correlationId: event.id }
      : { cause: "event", event, outcome: "applied" },
  };
}

/**
 * Requests an endpoint's data for another reason than an event, named by `key`: the same reason requests it once.
 * @param correlationId of what led to it
 * @returns undefined where that reason was counted before
 */
export function requestFetchFor(
  known: DocumentRecord | undefined,
  subject: Subject,
  name: DataName,
  { key, correlationId }: { readonly key: string; readonly correlationId?: string | undefined },
): DocumentRecord | undefined {
  const before = known ?? nothingKnown(subject, name);
  if (before.judged.includes(key)) return undefined;
  return {
    ...before,
    version: before.version + 1,
    wanted: before.wanted + 1,
    judged: addReceipt(before.judged, key),
    latest: { cause: "again", ...present({ correlationId }) },
  };
}

/** Whether data was fetched last before a moment, ISO 8601. What was never fetched is its own task's business. */
export function isFetchedBefore({ done, fetchedAt }: DocumentRecord, timestamp: string): boolean {
  return done > 0 && (fetchedAt === undefined || fetchedAt < timestamp);
}

/** How often an endpoint's data was requested, over all of its ranges: it rises with each event that announces data. */
export function requestedOf(documents: readonly DocumentRecord[], endpoint: string): number {
  return documents
    .filter((document) => document.endpoint === endpoint)
    .reduce((sum, { wanted }) => sum + wanted, 0);
}

/**
 * Notes that what was requested up to `noted` has been fetched.
 * @param content digest of the data, undefined where the provider has none (404, 410)
 * @param correlationId of what led to the call
 * @returns undefined where a later fetch was faster
 */
export function fetched(
  known: DocumentRecord,
  noted: number,
  content: string | undefined,
  { at, correlationId }: { readonly at: Date; readonly correlationId?: string | undefined },
): DocumentRecord | undefined {
  if (noted <= known.done) return undefined;
  const { content: before, ...rest } = known;
  const version = known.version + 1;
  const correlation = present({ correlationId });
  const common = {
    ...rest,
    ...present({ content }),
    done: noted,
    fetchedAt: at.toISOString(),
    version,
  };
  if (content === before) return { ...common, latest: { cause: "again", ...correlation } };
  const announced = { version, at: at.toISOString(), ...correlation };
  return { ...common, announced, latest: { cause: "answer", at: announced.at, ...correlation } };
}
