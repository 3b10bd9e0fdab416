// Characters that move the cursor, begin a line, turn the direction of writing, or can't be seen.
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const unprintables = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

/** Escapes text from outside, so that it is safe to print. */
export function oneLine(text: string): string {
  return text.replace(unprintables, " ");
}

/**
 * A value as equivalent JSON without control characters. @param indent spaces a level; undefined: one line
 */
export function printableJson(value: unknown, indent?: number): string {
  // JSON escapes line ends inside strings, so the remaining ones are indentation.
  return JSON.stringify(value, undefined, indent).replace(unprintable, (character) =>
    character === "\n" ? character : escaped(character),
  );
}

function escaped(character: string): string {
  return character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}

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

/** `1 file`, `2 files`. */
export function counted(count: number, what: string, plural = `${what}s`): string {
  return `${count} ${count === 1 ? what : plural}`;
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

/**
 * Writes a command for a person to copy: `` commandLine`npx income-events events show ${id}` ``. A POSIX
 * shell passes each value as one argument, whatever its characters; a list becomes several arguments.
 */
export function commandLine(
  parts: TemplateStringsArray,
  ...values: readonly (string | number | readonly string[])[]
): string {
  return String.raw({ raw: parts }, ...values.map((value) => [value].flat().map(quoted).join(" ")));
}

/** A leading `=` is quoted, because zsh would look up a program by that name. */
function quoted(argument: string | number): string {
  const text = String(argument);
  return /^[\w./:@%+,-][\w./:@%+,=-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Orders texts by their code units, as ISO times and ids compare. */
export function compareTexts(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** @param milliseconds since 1970 */
export function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
