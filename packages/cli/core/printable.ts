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
