import type { Days } from "../data/data-sets.ts";
import { formatDate } from "../timestamps.ts";
import { ApiError } from "./errors.ts";

/** Data can be asked for by its first day, its last, or both. */
export type DaysQuery = { readonly date_start?: string; readonly date_end?: string };

const day = { type: "string", pattern: "^\\d{4}-\\d{2}-\\d{2}$" } as const;
export const daysProperties = {
  date_start: { ...day, description: "The first day; data of pay periods that end before it is left out" },
  date_end: { ...day, description: "The last day; data of pay periods that begin after it is left out" },
} as const;

/** @throws 400 for a day that is not on the calendar, and for an end before the start */
export function daysOf({ date_start: start = "0000-01-01", date_end: end = "9999-12-31" }: DaysQuery): Days {
  for (const [name, date] of Object.entries({ date_start: start, date_end: end })) {
    if (!isOnCalendar(date)) throw new ApiError(400, "invalid_request", `${name}: is no day`);
  }
  if (end < start) throw new ApiError(400, "invalid_request", "date_end: is before date_start");
  return { start, end };
}

// Date takes 30 February for 2 March.
function isOnCalendar(date: string): boolean {
  const timestamp = new Date(date);
  return !Number.isNaN(timestamp.getTime()) && formatDate(timestamp) === date;
}
