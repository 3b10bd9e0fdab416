/** The service's way to write a moment: `2026-11-21 09:30:00.000 UTC`, RFC 3339 style in UTC. */
export function formatTimestamp(timestamp: Date): string {
  return timestamp.toISOString().replace("T", " ").replace("Z", " UTC");
}

/** A date without a time: `2026-11-21`. */
export function formatDate(timestamp: Date): string {
  return timestamp.toISOString().slice(0, 10);
}
