const count = new Intl.NumberFormat("en");
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const minute = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const dayMinute = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

export function number(value: number): string {
  return count.format(value);
}

/** In the reader's zone. */
export function localTime(iso: string): string {
  return day.format(new Date(iso));
}

export function localClock(iso: string): string {
  return clock.format(new Date(iso));
}

/** To the minute, with the day where it is another one. */
export function localMinute(iso: string): string {
  const at = new Date(iso);
  return at.toDateString() === new Date().toDateString() ? minute.format(at) : dayMinute.format(at);
}

/** Stands beside the reader's own time. */
export function utcTime(iso: string): string {
  return `${new Date(iso).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

export function span(seconds: number): string {
  if (seconds < 60) return `${Math.max(0, Math.round(seconds))} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

/** Whatever comes from outside, in one line: what can't be seen or turns the direction of writing is shown as a sign. */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "�");
}
