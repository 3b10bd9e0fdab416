const count = new Intl.NumberFormat("en");
/** The one form of a time in these pages. */
const time = new Intl.DateTimeFormat(undefined, {
  ...{ year: "numeric", month: "short", day: "numeric" },
  ...{ hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23", timeZoneName: "short" },
});

export function number(value: number): string {
  return count.format(value);
}

/** For example `1 message`, `1,200 messages`. */
export function countText(count: unknown, noun: string, plural = `${noun}s`): string {
  return `${number(Number(count))} ${Number(count) === 1 ? noun : plural}`;
}

/** In the reader's zone, which it names. */
export function localTime(iso: string): string {
  return time.format(new Date(iso));
}

export function utcTime(iso: string): string {
  return `${new Date(iso).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/**
 * Whatever comes from outside, in one line: what can't be seen or turns the direction of writing is shown as
 * a sign.
 */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "�");
}
