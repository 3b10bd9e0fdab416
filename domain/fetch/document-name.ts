import { type Fields, isFields, textOf } from "../core/parse.ts";
import type { EventAttributes } from "../event/events.ts";
import { keyPart } from "../event/subjects.ts";

/** First and last day, as the provider writes them. */
export type DateRange = { readonly start: string; readonly end: string };

/** Names a subject's data: everything at an endpoint, or one range of dates. */
export type DataName = { readonly endpoint: string; readonly range?: DateRange };

// Becomes part of keys and paths. Other date formats cause the whole document to be read.
const date = /^\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}:\d{2}(\.\d{1,9})? ?(UTC|Z|[+-]\d{2}:\d{2})?)?$/;

/** The date range that an event announces; undefined if it has none or in an unknown format. */
export function rangeOf({
  dateStart,
  dateEnd,
}: Pick<EventAttributes, "dateStart" | "dateEnd">): DateRange | undefined {
  if (dateStart === undefined || dateEnd === undefined) return undefined;
  return date.test(dateStart) && date.test(dateEnd) ? { start: dateStart, end: dateEnd } : undefined;
}

/** The name of data in keys and messages: `income`, or `income/2026-01-01..2026-01-31`. */
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
