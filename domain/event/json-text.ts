// SQS refuses the two non-characters in the messages that carry a text on. Control characters and line separators name
// nothing, and would begin a line of their own in some log or terminal.
const refusedCharacters = /[\p{Cc}\p{Zl}\p{Zp}\uFFFE\uFFFF]/u;

/** Whether a text is one line of characters. */
export function isClean(text: string): boolean {
  return text.isWellFormed() && !refusedCharacters.test(text);
}

const refusedByQueues = /[\u{10000}-\u{10FFFF}\uFFFE\uFFFF]/gu;

/**
 * A value as JSON that passes through every queue: characters beyond U+FFFF, emoji for example, are escaped, as
 * JSON allows: SQS takes them as they are, engines in its place do not. So are the two that SQS refuses. Reading it back gives the same value.
 */
export function jsonText(value: unknown): string {
  return forQueues(JSON.stringify(value));
}

/** JSON text, escaped likewise. */
export function forQueues(json: string): string {
  return json.replace(refusedByQueues, escapeUnits);
}

function escapeUnits(character: string): string {
  return character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16)}`)
    .join("");
}
