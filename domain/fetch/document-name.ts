import { keyPart } from "../core/key-part.ts";
import { type Fields, isFields, textOf } from "../core/parse.ts";
import type { EventAttributes } from "../event/events.ts";

/** The first and the last day, as the provider writes them. */
export type DateRange = { readonly start: string; readonly end: string };

/** Which data of a subject: all that an endpoint has, or what it has of a range of dates. */
export type DataName = { readonly endpoint: string; readonly range?: DateRange };

// Becomes part of keys and paths. What else a provider may write for a date is left to a read of the whole.
const date = /^\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}:\d{2}(\.\d{1,9})? ?(UTC|Z|[+-]\d{2}:\d{2})?)?$/;

/** The range of dates that an event announces; undefined where it says none, or not in a form that is known. */
export function rangeOf({
  dateStart,
  dateEnd,
}: Pick<EventAttributes, "dateStart" | "dateEnd">): DateRange | undefined {
  if (dateStart === undefined || dateEnd === undefined) return undefined;
  return date.test(dateStart) && date.test(dateEnd) ? { start: dateStart, end: dateEnd } : undefined;
}

/** `income`, or `income/2026-01-01..2026-01-31`: how keys and messages name data within its subject. */
export function nameOfData({ endpoint, range }: DataName, separator: "#" | "/"): string {
  const part = keyPart(endpoint);
  return range === undefined ? part : `${part}${separator}${range.start}..${range.end}`;
}

/** @throws permanent failure naming the field */
export function parseDataName(fields: Fields): DataName {
  const endpoint = textOf(fields, "endpoint");
  return isFields(fields.range) ? { endpoint, range: parseRange(fields.range) } : { endpoint };
}

function parseRange(fields: Fields): DateRange {
  return { start: textOf(fields, "start"), end: textOf(fields, "end") };
}
