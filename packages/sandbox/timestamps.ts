/** Formats a time as the service does: `2026-11-21 09:30:00.000 UTC`, RFC 3339 style in UTC. */
export function formatTimestamp(timestamp: Date): string {
  return timestamp.toISOString().replace("T", " ").replace("Z", " UTC");
}

/** Formats a time as interface 0.5 does: `2026-11-21T09:30:00.000013012Z`, with nanoseconds. */
export function formatNanoseconds(timestamp: Date): string {
  return timestamp.toISOString().replace("Z", "013012Z");
}

/** Formats a date: `2026-11-21`. */
export function formatDate(timestamp: Date): string {
  return timestamp.toISOString().slice(0, 10);
}
