import { fieldsOf, numberOf, optionalText, parseTexts, present } from "../core/parse.ts";
import type { Attributes, IncomeEvent } from "../event/events.ts";
import type { Outcome } from "./last-change.ts";

export type StoredAttributes = {
  readonly values: Attributes;
  /** The version of the user's state that set these values. */
  readonly version: number;
  /** When the webhook that reported them was sent to its queue, in milliseconds since 1970. */
  readonly since: number;
  /** ISO 8601. Set only while every report had a time, like `asOf` of a state. */
  readonly time?: string;
  /** Only the user's creation reported them, so any other report is newer. */
  readonly isCreation?: true;
};

/** An event that reports a user's attributes; `since` as in `StoredAttributes`. */
export type Report = Pick<IncomeEvent, "type" | "time"> & {
  readonly values: Attributes;
  readonly since: number;
};

/**
 * @param asks whether to query the provider if no time tells which report is newer; otherwise the one sent
 * last wins
 */
export function outcomeOfReport(
  stored: StoredAttributes | undefined,
  report: Report,
  asks: boolean,
): Outcome {
  if (stored === undefined) return "applied";
  if (areEqual(stored.values, report.values)) return "agreed";
  switch (compare(stored, report)) {
    case "newer":
      return "applied";
    case "older":
      return "stale";
    case "unordered":
      if (asks) return "unconfirmed";
      return isLater(stored, report) ? "applied" : "stale";
  }
}

function compare(stored: StoredAttributes, { type, time }: Report): "newer" | "older" | "unordered" {
  const isCreation = type === "user.created";
  if (isCreation !== (stored.isCreation === true)) return isCreation ? "older" : "newer";
  if (time === undefined || stored.time === undefined || time === stored.time) return "unordered";
  return time < stored.time ? "older" : "newer";
}

function isLater(stored: StoredAttributes, { since }: Report): boolean {
  return since > stored.since;
}

/** The stored attributes after a report. @param version the version of the resulting state */
export function afterReport(
  stored: StoredAttributes | undefined,
  report: Report,
  version: number,
): StoredAttributes {
  if (stored === undefined) return reported(report, version);
  const since = Math.max(stored.since, report.since);
  const order = compare(stored, report);
  if (order === "older") return stored;
  const values = order === "newer" || isLater(stored, report) ? report.values : stored.values;
  const isChanged = !areEqual(values, stored.values);
  const next = { ...reported(report, isChanged ? version : stored.version), values, since };
  if (order === "newer") return next;
  // A report that can't be ordered by time clears the stored time.
  const { time, ...rest } = next;
  return time === stored.time ? { ...rest, ...present({ time }) } : rest;
}

/** The stored attributes after the provider's answer, which overrides all earlier reports. */
export function afterAnswer(
  stored: StoredAttributes | undefined,
  values: Attributes,
  version: number,
  at: Date,
): StoredAttributes {
  const isChanged = stored === undefined || !areEqual(stored.values, values);
  return { values, version: isChanged ? version : stored.version, since: stored?.since ?? at.getTime() };
}

function reported({ type, values, since, time }: Report, version: number): StoredAttributes {
  const isCreation = type === "user.created" ? true : undefined;
  return { values, version, since, ...present({ time, isCreation }) };
}

function areEqual(one: Attributes, other: Attributes): boolean {
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && one[name] === other[name])
  );
}

/** @throws permanent failure naming the field */
export function parseStoredAttributes(value: unknown): StoredAttributes {
  const fields = fieldsOf(value, "attributes");
  return present<StoredAttributes>({
    values: parseTexts(fields.values, "attributes.values"),
    version: numberOf(fields, "version"),
    since: numberOf(fields, "since"),
    time: optionalText(fields, "time"),
    isCreation: fields.isCreation === true ? true : undefined,
  });
}
