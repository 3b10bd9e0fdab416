/**
 * The longest that the provider's `Retry-After` is heeded, in seconds: SQS hides a message for 12 hours at most, and a
 * value that makes no sense must not stop the pipeline for good.
 */
export const longestRetryAfterInSeconds = 11 * 3_600;

const inSeconds = /^(?:\d+\.?\d*|\.\d+)$/;
const isoDate = /^\d{4}-\d{2}-\d{2}T/;
/** The three forms of RFC 9110: `Sat, 21 Nov 2026 …`, `Saturday, 21-Nov-26 …`, `Sat Nov 21 … 2026`. */
const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /i;
const zone = /(?:GMT|UTC|Z|[+-]\d{2}:?\d{2})$/i;

/**
 * The seconds that `Retry-After` asks for: whole, fractional, or until a date (RFC 9110, 10.2.3).
 * @returns 0 for a date that is past; undefined where there is none, or none of these
 */
export function retryAfterInSeconds(value: string | undefined, now: Date): number | undefined {
  const text = value?.trim() ?? "";
  const seconds = inSeconds.test(text) ? Number(text) : (dateOf(text) - now.getTime()) / 1000;
  if (Number.isNaN(seconds)) return undefined;
  return Math.min(longestRetryAfterInSeconds, Math.max(0, seconds));
}

/** In milliseconds since 1970; NaN where it is none. A date without a zone is UTC. */
function dateOf(text: string): number {
  const isIso = isoDate.test(text);
  if (!isIso && !httpDate.test(text)) return Number.NaN;
  return Date.parse(zone.test(text) ? text : `${text}${isIso ? "Z" : " GMT"}`);
}
