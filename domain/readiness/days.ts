import { isFields } from "../core/parse.ts";
import { sourceAt } from "../event/json.ts";

const millisPerDay = 86_400_000;

/**
 * Number of days that a document's records cover, from the first `date_start` to the last `date_end`,
 * inclusive.
 * @param text valid JSON
 * @param items path of the list in an object, as `provider.paging.items`
 * @returns 0 if no record has both dates
 */
export function daysIn(text: string, items: string): number {
  const source = text.trimStart().startsWith("[") ? sourceAt(text, "") : sourceAt(text, items);
  const records: unknown = source && JSON.parse(text.slice(source.start, source.end));
  if (!Array.isArray(records)) return 0;
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const record of records) {
    if (!isFields(record)) continue;
    const [start, end] = [dayOf(record.date_start), dayOf(record.date_end)];
    if (start === undefined || end === undefined) continue;
    first = Math.min(first, start);
    last = Math.max(last, end);
  }
  return last < first ? 0 : last - first + 1;
}

function dayOf(value: unknown): number | undefined {
  const time = typeof value === "string" ? Date.parse(value.slice(0, 10)) : Number.NaN;
  return Number.isNaN(time) ? undefined : Math.floor(time / millisPerDay);
}
