/**
 * Maximum `Retry-After` that is honored, in seconds. SQS hides a message for at most 12 hours, and an absurd
 * value must not stop the pipeline forever.
 */
export const longestRetryAfterInSeconds = 11 * 3_600;

const inSeconds = /^(?:\d+\.?\d*|\.\d+)$/;
const isoDate = /^\d{4}-\d{2}-\d{2}T/;
/** The three forms of RFC 9110: `Sat, 21 Nov 2026 …`, `Saturday, 21-Nov-26 …`, `Sat Nov 21 … 2026`. */
const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /i;
const zone = /(?:GMT|UTC|Z|[+-]\d{2}:?\d{2})$/i;

/**
 * Parses `Retry-After` (RFC 9110, 10.2.3): whole or fractional seconds, or a date.
 * @returns seconds; 0 for a date in the past; undefined if missing or invalid
 */
export function retryAfterInSeconds(value: string | undefined, now: Date): number | undefined {
  const text = value?.trim() ?? "";
  const seconds = inSeconds.test(text) ? Number(text) : (dateOf(text) - now.getTime()) / 1000;
  if (Number.isNaN(seconds)) return undefined;
  return Math.min(longestRetryAfterInSeconds, Math.max(0, seconds));
}

/** Milliseconds since 1970; NaN if invalid. A date without a zone is UTC. */
function dateOf(text: string): number {
  const isIso = isoDate.test(text);
  if (!isIso && !httpDate.test(text)) return Number.NaN;
  return Date.parse(zone.test(text) ? text : `${text}${isIso ? "Z" : " GMT"}`);
}
