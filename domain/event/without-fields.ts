import { endOfString, endOfValue, type Span, skipSpace } from "./json-source.ts";

/** A list or an object that contains the current position. */
type Open = {
  readonly isObject: boolean;
  /** Where its first member or element may start. */
  readonly start: number;
  /** Where the last kept member ends; absent before the first. */
  keptEnd?: number;
  /** Whether the next string is a member's name. */
  isBeforeName: boolean;
};

/**
 * Removes fields from JSON text by name, at any depth. The rest of the text is unchanged. Uses no more memory
 * than the text itself.
 * @param text valid JSON; not checked here
 * @param names in lower case; the text may use any case
 * @returns undefined if no field matches
 */
export function withoutFields(text: string, names: ReadonlySet<string>): string | undefined {
  const parts: string[] = [];
  let done = 0;
  for (const { start, end } of fieldsIn(text, names)) {
    if (start > done) parts.push(text.slice(done, start));
    done = Math.max(done, end);
  }
  return done === 0 ? undefined : parts.join("") + text.slice(done);
}

/**
 * The spans of matching fields, each with the comma to remove. Sorted by start; the longest span of a start
 * is last.
 */
function* fieldsIn(text: string, names: ReadonlySet<string>): Generator<Span> {
  const open: Open[] = [];
  const end = (at: number) => {
    const around = open.at(-1);
    if (around !== undefined) around.keptEnd = at;
    return at;
  };
  for (let at = 0; at < text.length; ) {
    const around = open.at(-1);
    const character = text.charAt(at);
    if (character === '"' && around?.isBeforeName) {
      const nameEnd = endOfString(text, at);
      const value = skipSpace(text, skipSpace(text, nameEnd) + 1);
      around.isBeforeName = false;
      if (!names.has(nameAt(text, at, nameEnd).toLowerCase())) {
        at = value;
        continue;
      }
      const valueEnd = endOfValue(text, value);
      const after = skipSpace(text, valueEnd);
      const isLast = text[after] !== ",";
      at = isLast ? after : skipSpace(text, after + 1);
      around.isBeforeName = !isLast;
      yield around.keptEnd === undefined
        ? { start: around.start, end: isLast ? valueEnd : at }
        : { start: around.keptEnd, end: valueEnd };
    } else if (character === "{" || character === "[") {
      const isObject = character === "{";
      at += 1;
      open.push({ isObject, start: at, isBeforeName: isObject });
    } else if (character === "}" || character === "]") {
      open.pop();
      at = end(at + 1);
    } else if (character === ",") {
      if (around !== undefined) around.isBeforeName = around.isObject;
      at += 1;
    } else if (/[\s:]/.test(character)) at += 1;
    else at = end(endOfValue(text, at));
  }
}

function nameAt(text: string, start: number, end: number): string {
  const written = text.slice(start + 1, end - 1);
  return written.includes("\\") ? String(JSON.parse(text.slice(start, end))) : written;
}
