const secondsOf = { days: 86_400, hours: 3_600, minutes: 60, seconds: 1 } as const;

/** A duration by its two largest units: `3d 4h`, `12m 5s`, `0s`. @param seconds at least 0 */
export function spanText(seconds: number): string {
  let left = Math.round(seconds);
  const parts: [string, number][] = [];
  for (const [unit, length] of Object.entries(secondsOf)) {
    const count = Math.floor(left / length);
    left -= count * length;
    if (count > 0 || parts.length > 0) parts.push([unit, count]);
  }
  const largest = parts.slice(0, 2).filter(([, count]) => count > 0);
  return largest.length === 0 ? "0s" : largest.map(([unit, count]) => `${count}${unit.charAt(0)}`).join(" ");
}

/** A time relative to now: `3d 4h ago`, `in 12m`. */
export function fromNow(timestamp: Date, now: Date): string {
  const seconds = (timestamp.getTime() - now.getTime()) / 1000;
  return seconds > 0 ? `in ${spanText(seconds)}` : `${spanText(-seconds)} ago`;
}

/** CloudWatch keeps older values by the hour. */
const measuredByMinute = 3 * 3_600;

/**
 * How long ago something happened, if only the start of its period is known: its minute, or its hour if that
 * is more than three hours ago. Never longer than the true time.
 */
export function periodAgo(beginning: Date, now: Date): string {
  const seconds = (now.getTime() - beginning.getTime()) / 1000;
  if (seconds < 60) return "within the last minute";
  if (seconds < 120) return "within the last 2 minutes";
  const period = seconds > measuredByMinute ? 3_600 : 60;
  return `${spanText((Math.floor(seconds / period) - 1) * period)} ago`;
}
