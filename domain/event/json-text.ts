// SQS rejects the two non-characters. Control characters and line separators have no place in a name and
// could break a line in a log or terminal.
const refusedCharacters = /[\p{Cc}\p{Zl}\p{Zp}\uFFFE\uFFFF]/u;

/** Whether a text is one line without control characters. */
export function isClean(text: string): boolean {
  return text.isWellFormed() && !refusedCharacters.test(text);
}

const refusedByQueues = /[\u{10000}-\u{10FFFF}\uFFFE\uFFFF]/gu;

/**
 * Serializes a value as JSON that every queue accepts. Escapes characters beyond U+FFFF, such as emoji,
 * because some SQS emulators reject them, and the two characters that SQS rejects. Parsing it returns the
 * same value.
 */
export function jsonText(value: unknown): string {
  return forQueues(JSON.stringify(value));
}

/** Escapes JSON text like `jsonText`. */
export function forQueues(json: string): string {
  return json.replace(refusedByQueues, escapeUnits);
}

function escapeUnits(character: string): string {
  return character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16)}`)
    .join("");
}
