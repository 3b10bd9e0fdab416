const pattern =
  /^(\d{4}-\d{2}-\d{2})[ Tt]((?:[01]\d|2[0-3]):\d{2}:\d{2})(?:\.(\d+))?\s*(UTC|Z|z|[+-]\d{2}:\d{2})?$/;

/**
 * Reads the provider's date-times (`<date> <time> UTC`, with or without fractional seconds) and RFC 3339; a
 * time without a zone is UTC, as the specification says. Fractions finer than a millisecond are cut.
 * @returns ISO 8601 in UTC with milliseconds, which compares as text; undefined where it is no date-time
 */
export function parseTimestamp(text: string): string | undefined {
  const match = pattern.exec(text.trim());
  if (match === null) return undefined;
  const [, date = "", time, fraction = "", zone = "UTC"] = match;
  const offset = /^[+-]/.test(zone) ? zone : "Z";
  const milliseconds = fraction.slice(0, 3).padEnd(3, "0");
  const timestamp = new Date(`${date}T${time}.${milliseconds}${offset}`);
  if (Number.isNaN(timestamp.getTime()) || !isOnCalendar(date)) return undefined;
  const iso = timestamp.toISOString();
  // An offset can push a timestamp out of the years of four digits, and then it would not compare as text.
  return /^\d{4}-/.test(iso) ? iso : undefined;
}

// Date takes 30 February for 2 March.
function isOnCalendar(date: string): boolean {
  const midnight = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(date);
}

/**
 * Reads a Unix time in whole seconds or milliseconds, as a number or its digits. Ten digits are seconds (2001 to 2286),
 * thirteen are milliseconds of the same years: no number can be both.
 * @returns as `parseTimestamp`
 */
export function parseUnixTime(value: unknown): string | undefined {
  const digits = typeof value === "number" ? String(value) : value;
  if (typeof digits !== "string" || !/^[1-9]\d{9}(\d{3})?$/.test(digits)) return undefined;
  return new Date(Number(digits.padEnd(13, "0"))).toISOString();
}
