import { fieldsOf, numberOf, optionalText, parseTexts, present } from "../core/parse.ts";
import type { Attributes, IncomeEvent } from "../event/events.ts";
import type { Outcome } from "./last-change.ts";

export type KnownAttributes = {
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

/** An event that reports a user's attributes; `since` as in `KnownAttributes`. */
export type Report = Pick<IncomeEvent, "type" | "time"> & {
  readonly values: Attributes;
  readonly since: number;
};

/**
 * @param asks whether to query the provider if no time tells which report is newer; otherwise the one sent
 * last wins
 */
export function outcomeOfReport(known: KnownAttributes | undefined, report: Report, asks: boolean): Outcome {
  if (known === undefined) return "applied";
  if (areEqual(known.values, report.values)) return "agreed";
  switch (compare(known, report)) {
    case "newer":
      return "applied";
    case "older":
      return "stale";
    case "unordered":
      if (asks) return "unconfirmed";
      return isLater(known, report) ? "applied" : "stale";
  }
}

function compare(known: KnownAttributes, { type, time }: Report): "newer" | "older" | "unordered" {
  const isCreation = type === "user.created";
  if (isCreation !== (known.isCreation === true)) return isCreation ? "older" : "newer";
  if (time === undefined || known.time === undefined || time === known.time) return "unordered";
  return time < known.time ? "older" : "newer";
}

function isLater(known: KnownAttributes, { since }: Report): boolean {
  return since > known.since;
}

/** The stored attributes after a report. @param version the version of the resulting state */
export function afterReport(
  known: KnownAttributes | undefined,
  report: Report,
  version: number,
): KnownAttributes {
  if (known === undefined) return reported(report, version);
  const since = Math.max(known.since, report.since);
  const order = compare(known, report);
  if (order === "older") return known;
  const values = order === "newer" || isLater(known, report) ? report.values : known.values;
  const isChanged = !areEqual(values, known.values);
  const next = { ...reported(report, isChanged ? version : known.version), values, since };
  if (order === "newer") return next;
  // A report that can't be ordered by time clears the stored time.
  const { time, ...rest } = next;
  return time === known.time ? { ...rest, ...present({ time }) } : rest;
}

/** The stored attributes after the provider's answer, which overrides all earlier reports. */
export function afterAnswer(
  known: KnownAttributes | undefined,
  values: Attributes,
  version: number,
  at: Date,
): KnownAttributes {
  const isChanged = known === undefined || !areEqual(known.values, values);
  return { values, version: isChanged ? version : known.version, since: known?.since ?? at.getTime() };
}

function reported({ type, values, since, time }: Report, version: number): KnownAttributes {
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
export function parseKnownAttributes(value: unknown): KnownAttributes {
  const fields = fieldsOf(value, "attributes");
  return present<KnownAttributes>({
    values: parseTexts(fields.values, "attributes.values"),
    version: numberOf(fields, "version"),
    since: numberOf(fields, "since"),
    time: optionalText(fields, "time"),
    isCreation: fields.isCreation === true ? true : undefined,
  });
}
