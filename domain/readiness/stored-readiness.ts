import { permanent } from "../core/failures.ts";
import {
  type Fields,
  fieldsOf,
  isFields,
  numberOf,
  optionalText,
  present,
  textOf,
  textsOf,
} from "../core/parse.ts";
import { parseSubject } from "../event/subjects.ts";
import {
  type AccountReadiness,
  type Announcement,
  missingReasons,
  type Reading,
  type Stale,
} from "./account-readiness.ts";
import type { UserReadiness } from "./user-readiness.ts";

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

function parseStale(fields: Fields): Stale {
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
