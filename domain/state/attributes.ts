import { fieldsOf, numberOf, optionalText, parseTexts, present } from "../core/parse.ts";
import type { Attributes } from "../event/attributes.ts";
import type { IncomeEvent } from "../event/events.ts";
import type { Outcome } from "./last-change.ts";

/** What is known of a user's attributes. */
export type KnownAttributes = {
  readonly values: Attributes;
  /** The version of the user's state that set these values. */
  readonly version: number;
  /** When the webhook that reported them was sent to its queue, milliseconds since 1970. */
  readonly since: number;
  /** ISO 8601. Kept only while all that reported them came with a time, as `asOf` of a state. */
  readonly time?: string;
  /** Only the user's creation reported them, which comes before all else in a user's life. */
  readonly isCreation?: true;
};

/** An event that says which attributes a user has; `since` as in `KnownAttributes`. */
export type Report = Pick<IncomeEvent, "type" | "time"> & {
  readonly values: Attributes;
  readonly since: number;
};

/** @param asks whether the provider is asked where no time says which is newer; else the report that was sent last counts */
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

/** What is known after a report. @param version of the state that then is */
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
  // What has no place in the order of times takes that of the other away.
  const { time, ...rest } = next;
  return time === known.time ? { ...rest, ...present({ time }) } : rest;
}

/** What is known after the provider's answer, which outranks all that came before. */
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
