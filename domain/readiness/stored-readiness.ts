import { permanent } from "../core/failures.ts";
import {
  checkSchemaVersion,
  type Fields,
  fieldsOf,
  isFields,
  numberOf,
  optionalNumber,
  optionalText,
  parseJson,
  present,
  textOf,
  textsOf,
} from "../core/parse.ts";
import { jsonText } from "../event/json.ts";
import { parseSubject } from "../event/subjects.ts";

/** Which awaited endpoints were read for an account's connection. Times are milliseconds since 1970. */
export type AccountReadiness = ReturnType<typeof parseAccountReadiness>;

/** @throws permanent failure naming the field */
export function parseAccountReadiness(value: unknown) {
  const fields = fieldsOf(value, "readiness");
  return present({
    subject: parseSubject(fields.subject),
    /** Increases by one with each write. */
    version: numberOf(fields, "version"),
    userId: optionalText(fields, "userId"),
    /** The last version of the account's state that changed this record. */
    stateVersion: numberOf(fields, "stateVersion"),
    isConnected: fields.isConnected === true,
    /** Nothing is announced while the account's state is unconfirmed. */
    isConfirmed: fields.isConfirmed === true,
    /** `SentTimestamp` of the webhook that began the connection. */
    since: numberOf(fields, "since"),
    deadline: numberOf(fields, "deadline"),
    endpoints: textsOf(fields, "endpoints"),
    minDays: optionalNumber(fields, "minDays"),
    readings: parseReadings(fields.readings),
    /** The last announcement, possibly for an earlier connection. */
    announced: isFields(fields.announced) ? parseAnnouncement(fields.announced) : undefined,
    /** The last announcement that this connection had no new data `since` then, or since its begin. */
    stale: isFields(fields.stale) ? parseStale(fields.stale) : undefined,
    /** Correlation id of what began the connection. */
    correlationId: optionalText(fields, "correlationId"),
  });
}

/** The last announcement about a user's accounts. Times are milliseconds since 1970. */
export type UserReadiness = ReturnType<typeof parseUserReadiness>;

/** @throws permanent failure naming the field */
export function parseUserReadiness(value: unknown) {
  const fields = fieldsOf(value, "readiness");
  return present({
    subject: parseSubject(fields.subject),
    /** Increases by one with each announcement: the message's id and sequence. */
    version: numberOf(fields, "version"),
    at: numberOf(fields, "at"),
    /** By id. Without those that were erased since. */
    accounts: listIn(fields, "accounts", parseSettled),
    /** Correlation id of what led to the announcement. */
    correlationId: optionalText(fields, "correlationId"),
  });
}

/** A connected account that is ready or incomplete. `since`: when its connection began. */
export type SettledAccount = ReturnType<typeof parseSettled>;

function parseSettled(fields: Fields) {
  return {
    accountId: textOf(fields, "accountId"),
    status: parseStatus(fields),
    since: numberOf(fields, "since"),
  } as const;
}

function parseReadings(value: unknown): Readonly<Record<string, Reading>> {
  const readings = Object.entries(fieldsOf(value, "readings"));
  return Object.fromEntries(readings.map(([endpoint, reading]) => [endpoint, parseReading(reading)]));
}

/** A document that was read after the connection began. Without a `digest`, the provider has no data. */
export type Reading = ReturnType<typeof parseReading>;

function parseReading(value: unknown) {
  const fields = fieldsOf(value, "reading");
  return present({
    asOf: numberOf(fields, "asOf"),
    digest: optionalText(fields, "digest"),
    announced: optionalNumber(fields, "announced"),
    days: optionalNumber(fields, "days"),
  });
}

function parseStale(fields: Fields) {
  return {
    version: numberOf(fields, "version"),
    since: numberOf(fields, "since"),
    at: numberOf(fields, "at"),
  } as const;
}

/** The content of an account's readiness message. */
export type Announcement = ReturnType<typeof parseAnnouncement>;

export const missingReasons = ["notAnnounced", "none", "tooFewDays", "failing", "deadLetter"] as const;

function parseAnnouncement(fields: Fields) {
  return {
    status: parseStatus(fields),
    /** The version that announced it: the message's id and sequence. */
    version: numberOf(fields, "version"),
    /** When the announced connection began. */
    since: numberOf(fields, "since"),
    /** Milliseconds since 1970. */
    at: numberOf(fields, "at"),
    documents: listIn(fields, "documents", parseAnnounced),
    missing: listIn(fields, "missing", parseMissing),
  } as const;
}

function parseAnnounced(fields: Fields) {
  return {
    endpoint: textOf(fields, "endpoint"),
    digest: textOf(fields, "digest"),
    announced: numberOf(fields, "announced"),
  } as const;
}

function parseMissing(fields: Fields) {
  const reason = missingReasons.find((name) => name === fields.reason);
  if (reason === undefined) throw permanent("reason: expected a known reason");
  return { endpoint: textOf(fields, "endpoint"), reason } as const;
}

function parseStatus({ status }: Fields) {
  if (status !== "ready" && status !== "incomplete") throw permanent("status: expected ready or incomplete");
  return status;
}

function listIn<T>(fields: Fields, name: string, parse: (each: Fields) => T): readonly T[] {
  const { [name]: list } = fields;
  if (!Array.isArray(list)) throw permanent(`${name}: expected a list`);
  return list.map((each) => parse(fieldsOf(each, name)));
}

const version = 1;

/**
 * A message that triggers the readiness check of a connection. `since` is when the account was connected, in
 * milliseconds since 1970.
 */
export type Deadline = ReturnType<typeof readDeadline>;

export function writeDeadline(deadline: Deadline): string {
  return jsonText({ schemaVersion: version, ...deadline });
}

/** @throws permanent failure naming the field; retryable failure if a later release wrote it */
export function readDeadline(text: string) {
  const fields = fieldsOf(parseJson(text, "the deadline"), "the deadline");
  checkSchemaVersion(fields.schemaVersion, version);
  const subject = parseSubject(fields.subject);
  if (subject.kind !== "account") throw permanent("subject.kind: expected account");
  return present({
    subject,
    since: numberOf(fields, "since"),
    correlationId: optionalText(fields, "correlationId"),
  });
}

/**
 * Seconds between checks. Most accounts are ready soon, and the check that finds one ready deletes its
 * message. SQS hides a message for less than 12 hours.
 */
const waits = [900, 3_600, 21_600, 42_900] as const;

/**
 * How long to hide a deadline's message, in seconds.
 * @param receives number of receives, including this one
 * @param now by a service's clock, in milliseconds since 1970
 */
export function secondsUntilCheck(deadline: number, receives: number, now: number): number {
  const longest = waits[Math.min(receives, waits.length) - 1] ?? waits[0];
  return Math.min(longest, Math.max(1, Math.ceil((deadline - now) / 1000)));
}
