import { permanent } from "../core/failures.ts";
import {
  checkSchemaVersion,
  type Fields,
  fieldsOf,
  isFields,
  numberOf,
  optionalText,
  parseJson,
  present,
  textOf,
  textsOf,
} from "../core/parse.ts";
import { jsonText } from "../event/json.ts";
import { parseSubject, type Subject } from "../event/subjects.ts";
import {
  type AccountReadiness,
  type Announcement,
  missingReasons,
  type Reading,
  type UserReadiness,
} from "./readiness.ts";

/** @throws permanent failure naming the field */
export function parseAccountReadiness(value: unknown): AccountReadiness {
  const fields = fieldsOf(value, "readiness");
  const readings = fieldsOf(fields.readings, "readings");
  return present<AccountReadiness>({
    subject: parseSubject(fields.subject),
    version: numberOf(fields, "version"),
    userId: optionalText(fields, "userId"),
    stateVersion: numberOf(fields, "stateVersion"),
    isConnected: fields.isConnected === true,
    isConfirmed: fields.isConfirmed === true,
    since: numberOf(fields, "since"),
    deadline: numberOf(fields, "deadline"),
    endpoints: textsOf(fields, "endpoints"),
    minDays: optionalNumber(fields, "minDays"),
    readings: Object.fromEntries(
      Object.entries(readings).map(([endpoint, reading]) => [endpoint, parseReading(reading)]),
    ),
    announced: isFields(fields.announced) ? parseAnnouncement(fields.announced) : undefined,
    stale: isFields(fields.stale) ? parseStale(fields.stale) : undefined,
    correlationId: optionalText(fields, "correlationId"),
  });
}

/** @throws permanent failure naming the field */
export function parseUserReadiness(value: unknown): UserReadiness {
  const fields = fieldsOf(value, "readiness");
  return present<UserReadiness>({
    subject: parseSubject(fields.subject),
    version: numberOf(fields, "version"),
    at: numberOf(fields, "at"),
    accounts: listIn(fields, "accounts").map((each) => ({
      accountId: textOf(each, "accountId"),
      status: parseStatus(each),
      since: numberOf(each, "since"),
    })),
    correlationId: optionalText(fields, "correlationId"),
  });
}

function parseReading(value: unknown): Reading {
  const fields = fieldsOf(value, "reading");
  return present<Reading>({
    asOf: numberOf(fields, "asOf"),
    digest: optionalText(fields, "digest"),
    announced: optionalNumber(fields, "announced"),
    days: optionalNumber(fields, "days"),
  });
}

function parseStale(fields: Fields): AccountReadiness["stale"] {
  return {
    version: numberOf(fields, "version"),
    since: numberOf(fields, "since"),
    at: numberOf(fields, "at"),
  };
}

function parseAnnouncement(fields: Fields): Announcement {
  return {
    status: parseStatus(fields),
    version: numberOf(fields, "version"),
    since: numberOf(fields, "since"),
    at: numberOf(fields, "at"),
    documents: listIn(fields, "documents").map((each) => {
      const endpoint = textOf(each, "endpoint");
      return { endpoint, digest: textOf(each, "digest"), announced: numberOf(each, "announced") };
    }),
    missing: listIn(fields, "missing").map((each) => {
      const reason = missingReasons.find((name) => name === each.reason);
      if (reason === undefined) throw permanent("reason: expected a known reason");
      return { endpoint: textOf(each, "endpoint"), reason };
    }),
  };
}

function parseStatus({ status }: Fields): Announcement["status"] {
  if (status !== "ready" && status !== "incomplete") throw permanent("status: expected ready or incomplete");
  return status;
}

function listIn(fields: Fields, name: string): readonly Fields[] {
  const { [name]: list } = fields;
  if (!Array.isArray(list)) throw permanent(`${name}: expected a list`);
  return list.map((each) => fieldsOf(each, name));
}

function optionalNumber(fields: Fields, name: string): number | undefined {
  return fields[name] === undefined ? undefined : numberOf(fields, name);
}

const version = 1;

/**
 * A message that triggers the readiness check of a connection. `since` is when the account was connected, in
 * milliseconds since 1970.
 */
export type Deadline = {
  readonly subject: Subject;
  readonly since: number;
  readonly correlationId?: string;
};

export function writeDeadline(deadline: Deadline): string {
  return jsonText({ schemaVersion: version, ...deadline });
}

/** @throws permanent failure naming the field; retryable failure if a later release wrote it */
export function readDeadline(text: string): Deadline {
  const fields = fieldsOf(parseJson(text, "the deadline"), "the deadline");
  checkSchemaVersion(fields.schemaVersion, version);
  const subject = parseSubject(fields.subject);
  if (subject.kind !== "account") throw permanent("subject.kind: expected account");
  return present<Deadline>({
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
