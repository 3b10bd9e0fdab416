const beyondTheBasicPlane = /[\u{10000}-\u{10FFFF}]/gu;

/**
 * A value as JSON that passes through every queue: characters beyond U+FFFF, emoji for example, are escaped, as
 * JSON allows. SQS takes them as they are, engines in its place do not. Reading it back gives the same value.
 */
export function jsonText(value: unknown): string {
  return JSON.stringify(value).replace(beyondTheBasicPlane, escapeUnits);
}

function escapeUnits(character: string): string {
  return character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16)}`)
    .join("");
}
