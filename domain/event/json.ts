export const plainJson = "application/json";

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

/** A part of a text, from `start` up to `end`. */
export type Span = { readonly start: number; readonly end: number };

/**
 * Finds a value in JSON text by names joined by dots; "" is the whole value. A slice of the text keeps every
 * digit of a number, which JSON.parse would round, and needs no memory for parsed objects.
 * @param text valid JSON; not checked here
 * @returns undefined if there is no such value
 */
export function sourceAt(text: string, path: string): Span | undefined {
  let start = skipSpace(text, 0);
  for (const name of path === "" ? [] : path.split(".")) {
    if (text[start] !== "{") return undefined;
    const value = memberAt(text, start, name);
    if (value === undefined) return undefined;
    start = value.start;
  }
  return { start, end: endOfValue(text, start) };
}

/** Maximum nesting of lists and objects. Deeper JSON would overflow the stack of recursive functions. */
export const deepestNesting = 100;

/** Whether lists and objects in JSON text are nested deeper than `deepestNesting`. */
export function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at) - 1;
    else if (code === openBrace || code === openBracket) {
      depth += 1;
      if (depth > deepestNesting) return true;
    } else if (code === closeBrace || code === closeBracket) depth -= 1;
  }
  return false;
}

const [quote, openBrace, closeBrace, openBracket, closeBracket] = [0x22, 0x7b, 0x7d, 0x5b, 0x5d];

/** Finds an object's member. If a name occurs twice, the last one wins, as in JSON.parse. */
function memberAt(text: string, objectStart: number, name: string): Span | undefined {
  let found: Span | undefined;
  for (const member of membersOf(text, objectStart)) if (member.name === name) found = member.value;
  return found;
}

/** The members of an object in JSON text, with the spans of their values. */
export function* membersOf(
  text: string,
  objectStart: number,
): Generator<{ readonly name: string; readonly value: Span }> {
  let at = skipSpace(text, objectStart + 1);
  while (text[at] === '"') {
    const nameEnd = endOfString(text, at);
    const name = String(JSON.parse(text.slice(at, nameEnd)));
    const start = skipSpace(text, skipSpace(text, nameEnd) + 1);
    const end = endOfValue(text, start);
    yield { name, value: { start, end } };
    // After a comma comes the next name; after the closing brace, no string can follow.
    at = skipSpace(text, skipSpace(text, end) + 1);
  }
}

export function endOfValue(text: string, start: number): number {
  const first = text[start];
  if (first === '"') return endOfString(text, start);
  if (first === "{" || first === "[") return endOfNested(text, start);
  let at = start;
  while (at < text.length && !/[\s,\]}]/.test(text.charAt(at))) at += 1;
  return at;
}

function endOfNested(text: string, start: number): number {
  let depth = 0;
  let at = start;
  do {
    const character = text[at];
    if (character === '"') at = endOfString(text, at);
    else {
      if (character === "{" || character === "[") depth += 1;
      else if (character === "}" || character === "]") depth -= 1;
      at += 1;
    }
  } while (depth > 0 && at < text.length);
  return at;
}

export function endOfString(text: string, start: number): number {
  let at = start;
  do at = text.indexOf('"', at + 1);
  while (at !== -1 && isEscaped(text, at));
  return at === -1 ? text.length : at + 1;
}

/** Whether an odd number of backslashes precedes the position. */
function isEscaped(text: string, at: number): boolean {
  let before = at;
  while (text[before - 1] === "\\") before -= 1;
  return (at - before) % 2 === 1;
}

export function skipSpace(text: string, start: number): number {
  let at = start;
  while (/\s/.test(text.charAt(at))) at += 1;
  return at;
}

/** The parts of a content type, in lower case. */
export type MediaType = { readonly essence: string; readonly charset?: string };

const tokens = /^[!#$%&'*+.^_`|~0-9a-z-]{1,60}\/[!#$%&'*+.^_`|~0-9a-z-]{1,60}$/;

/** Parses a `Content-Type`; undefined if it is missing or invalid. */
export function mediaTypeOf(contentType: string | undefined): MediaType | undefined {
  const [first = "", ...parameters] = (contentType ?? "").toLowerCase().split(";");
  const essence = first.trim();
  if (!tokens.test(essence)) return undefined;
  const charset = parameters
    .map((parameter) => /^\s*charset\s*=\s*["']?([^"']*?)["']?\s*$/.exec(parameter)?.[1])
    .find((name) => name !== undefined && name !== "");
  return charset === undefined ? { essence } : { essence, charset };
}

const asciiNames = ["us-ascii", "ascii"];
const utf16Marks = [
  { bytes: [0xff, 0xfe], charset: "utf-16le" },
  { bytes: [0xfe, 0xff], charset: "utf-16be" },
] as const;

/** Whether a charset has this name in the WHATWG Encoding Standard. */
export function isCharset(name: string): boolean {
  try {
    new TextDecoder(name);
    return true;
  } catch {
    return false;
  }
}

/**
 * Decodes JSON text without its byte order mark: by the given charset, else as UTF-16 or UTF-8 by its first bytes.
 * @param charset ignored if it is unknown, as a misspelled `utf8mb4` is
 * @returns undefined if the bytes are invalid in the charset
 */
export function decodeText(bytes: Uint8Array, charset?: string): string | undefined {
  if (charset !== undefined && asciiNames.includes(charset) && bytes.some((byte) => byte > 0x7f))
    return undefined;
  const known = charset !== undefined && isCharset(charset) ? charset : undefined;
  try {
    return new TextDecoder(charsetOf(bytes, known), { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Without a charset, and for `utf-16`, the byte order mark decides. Without one, the zero byte of the first
 * character does, because it is ASCII in JSON.
 */
function charsetOf(bytes: Uint8Array, claimed: string | undefined): string {
  if (claimed !== undefined && claimed !== "utf-16") return claimed;
  const marked = utf16Marks.find((mark) => mark.bytes.every((byte, index) => bytes[index] === byte));
  if (marked !== undefined) return marked.charset;
  if (bytes[0] === 0) return "utf-16be";
  return claimed === "utf-16" || bytes[1] === 0 ? "utf-16le" : "utf-8";
}
