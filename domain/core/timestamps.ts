/** A parsed time: ISO 8601 in UTC with milliseconds, which compares as text, and its original format. */
export type ReadTime = { readonly time: string; readonly form: string };

/**
 * Parses a time in any format that webhooks and APIs use: those of `parseTimestamp`, and Unix times as a
 * number or its digits, with or without a fraction. The number of digits gives the unit for the years 2001 to
 * 2286: ten for seconds, thirteen for milliseconds, sixteen for microseconds, nineteen for nanoseconds.
 * @returns undefined if it is not a time
 */
export function readTime(value: unknown): ReadTime | undefined {
  if (typeof value !== "string") return typeof value === "number" ? readUnixTime(String(value)) : undefined;
  return readUnixTime(value.trim()) ?? readDateTime(value.trim());
}

/**
 * Parses a date-time in ISO 8601 (extended or basic; a calendar, ordinal or week date; any offset), in the
 * provider's format (`<date> <time> UTC`), or in RFC 1123. A time without a zone is UTC, as in the
 * specification. A date without a time is midnight. Fractions below a millisecond are truncated.
 * @returns ISO 8601 in UTC with milliseconds, which compares as text; undefined if it is not a date-time
 */
export function parseTimestamp(text: string): string | undefined {
  return readDateTime(text.trim())?.time;
}

const unixUnits: Readonly<Record<number, string>> = {
  10: "seconds",
  13: "milliseconds",
  16: "microseconds",
  19: "nanoseconds",
};

function readUnixTime(text: string): ReadTime | undefined {
  const [, whole = "", fraction = ""] = /^([1-9]\d{9,18})(?:[.,](\d+))?$/.exec(text) ?? [];
  const unit = unixUnits[whole.length];
  if (unit === undefined) return undefined;
  const milliseconds = `${whole}${fraction}`.padEnd(13, "0").slice(0, 13);
  return { time: new Date(Number(milliseconds)).toISOString(), form: `Unix ${unit}` };
}

// 24:00:00 and a leap second (60) both mean the following second.
const time = String.raw`(?<hour>[01]\d|2[0-4])(?::?(?<minute>[0-5]\d)(?::?(?<second>[0-5]\d|60)(?:[.,](?<fraction>\d+))?)?)?`;
// Java appends the name of the zone to its offset.
const zone = String.raw`(?:\s*(?<zone>UTC|utc|GMT|gmt|UT|[Zz]|[+\u2212-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)(?:\[[\w/+-]+\])?)?`;
const iso = ["-", ""].map((dash) => {
  const day = String.raw`(?:(?<month>\d{2})${dash}(?<day>\d{2})|W(?<week>\d{2})${dash}(?<weekday>[1-7])|(?<ordinal>\d{3}))`;
  // The basic format has no separators; allowing them would mix both formats.
  const ofDay = dash === "" ? time.replaceAll(":?", "") : time.replaceAll(":?", ":");
  return new RegExp(`^(?<year>\\d{4})${dash}${day}(?:[ Tt]${ofDay}${zone})?$`);
});
const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const rfc1123 = new RegExp(
  `^(?:[a-z]{3}, )?(?<day>\\d{1,2}) (?<name>${months.join("|")}) (?<year>\\d{4}) ${time.replaceAll(":?", ":")}${zone}$`,
  "i",
);

function readDateTime(text: string): ReadTime | undefined {
  const rfc = rfc1123.exec(text)?.groups;
  if (rfc !== undefined) {
    const month = String(months.indexOf(rfc.name?.toLowerCase() ?? "") + 1);
    return atTime(calendarDay(rfc.year, month, rfc.day), rfc, "RFC 1123");
  }
  for (const pattern of iso) {
    const groups = pattern.exec(text)?.groups;
    if (groups !== undefined) return atTime(dayOf(groups), groups, "ISO 8601");
  }
  return undefined;
}

type Groups = Readonly<Record<string, string | undefined>>;

/** @returns the day's first millisecond in UTC; undefined if the date does not exist */
function dayOf({ year, month, day, week, weekday, ordinal }: Groups): number | undefined {
  if (month !== undefined) return calendarDay(year, month, day);
  const first = calendarDay(year, "1", "1");
  if (first === undefined) return undefined;
  const inYear = week === undefined ? Number(ordinal) : ordinalOfWeek(first, Number(week), Number(weekday));
  const date = first + (inYear - 1) * dayInMillis;
  // A week belongs to the year of its Thursday.
  const deciding = week === undefined ? date : date + (4 - Number(weekday)) * dayInMillis;
  return new Date(deciding).getUTCFullYear() === Number(year) ? date : undefined;
}

const dayInMillis = 86_400_000;

/** Week 1 contains the year's first Thursday. */
function ordinalOfWeek(firstOfYear: number, week: number, weekday: number): number {
  const fourth = new Date(firstOfYear + 3 * dayInMillis).getUTCDay() || 7;
  return (week - 1) * 7 + weekday + 4 - fourth;
}

function calendarDay(year = "", month = "", day = ""): number | undefined {
  const date = new Date(`${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}T00:00:00Z`);
  // Date turns 30 February into 2 March.
  const isOnCalendar = !Number.isNaN(date.getTime()) && date.getUTCDate() === Number(day);
  return isOnCalendar ? date.getTime() : undefined;
}

function atTime(day: number | undefined, groups: Groups, form: string): ReadTime | undefined {
  if (day === undefined) return undefined;
  const { hour = "0", minute = "0", second = "0", fraction = "", zone: offset } = groups;
  const seconds = Number(hour) * 3_600 + Number(minute) * 60 + Number(second) - offsetInSeconds(offset);
  if (hour === "24" && /[1-9]/.test(`${minute}${second}${fraction}`)) return undefined;
  const milliseconds = Number(fraction.slice(0, 3).padEnd(3, "0"));
  const read = new Date(day + seconds * 1_000 + milliseconds);
  // An offset can move a time outside four-digit years, which do not compare as text.
  if (!/^\d{4}-/.test(read.toISOString())) return undefined;
  return { time: read.toISOString(), form: `${form}${assumedOf(groups)}` };
}

function assumedOf({ hour, zone: offset }: Groups): string {
  if (hour === undefined) return ", a date: its first moment in UTC";
  return offset === undefined ? " without a zone: UTC" : "";
}

function offsetInSeconds(zone = "Z"): number {
  const [, sign, hours, minutes = "0"] = /^([+\u2212-])(\d{2}):?(\d{2})?$/.exec(zone) ?? [];
  if (sign === undefined) return 0;
  return (sign === "+" ? 1 : -1) * (Number(hours) * 3_600 + Number(minutes) * 60);
}
