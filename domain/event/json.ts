import { permanent } from "../core/failures.ts";

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
  let at = skipSpace(text, objectStart + 1);
  while (text[at] === '"') {
    const nameEnd = endOfString(text, at);
    const key: unknown = JSON.parse(text.slice(at, nameEnd));
    const start = skipSpace(text, skipSpace(text, nameEnd) + 1);
    const end = endOfValue(text, start);
    if (key === name) found = { start, end };
    const next = skipSpace(text, end);
    at = text[next] === "," ? skipSpace(text, next + 1) : next;
  }
  return found;
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
  while (at < text.length && /\s/.test(text.charAt(at))) at += 1;
  return at;
}

// JSON.parse passes the source text since Node 22, but TypeScript's library does not declare it yet.
declare global {
  interface JSON {
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
    ): unknown;
    rawJSON(text: string): unknown;
    isRawJSON(value: unknown): boolean;
  }
}

// Otherwise every body would look like invalid JSON.
if (typeof JSON.rawJSON !== "function") {
  throw new Error(
    `Node ${process.version} lacks JSON.rawJSON and the source text of JSON.parse: run it on Node 22 or later`,
  );
}

/** Whether a value is a number with all its digits. JSON.stringify writes them; arithmetic is not possible. */
export function isRawNumber(value: unknown): value is { readonly rawJSON: string } {
  return JSON.isRawJSON(value);
}

/** Whether a value that `parseExact` returned is or contains a raw number. */
export function hasRawNumber(value: unknown): boolean {
  if (isRawNumber(value)) return true;
  return typeof value === "object" && value !== null && Object.values(value).some(hasRawNumber);
}

/**
 * Parses JSON so that JSON.stringify writes numbers with all their digits. JSON.parse alone rounds numbers
 * beyond 2^53. All numbers become raw JSON, so arithmetic is not possible.
 * @throws SyntaxError if the text is not JSON, RangeError if it is nested too deeply
 */
export function losslessValue(text: string): unknown {
  return JSON.parse(text, (_, value, { source }) =>
    typeof value === "number" && source !== undefined ? JSON.rawJSON(source) : value,
  );
}

/**
 * Parses JSON. A number that JavaScript can represent exactly becomes a number, any other raw JSON.
 * @param what names the text in the failure
 * @throws permanent failure, which never quotes the text
 */
export function parseExact(text: string, what: string): unknown {
  try {
    // Only a number with 16 digits or an exponent can be inexact, and a reviver is several times slower.
    if (!/(?:\d\.?){16}|\d[eE][+-]?\d/.test(text)) return JSON.parse(text);
    return JSON.parse(text, (_, value, { source }) =>
      typeof value === "number" && source !== undefined ? exactNumber(source) : value,
    );
  } catch {
    throw permanent(`${what} is not JSON`);
  }
}

/** @param source a number as JSON writes it */
export function exactNumber(source: string): unknown {
  const value = Number(source);
  const written = decimalOf(source);
  if (written === undefined) return JSON.rawJSON(source);
  const isPrecise = !Number.isInteger(value) || Number.isSafeInteger(value);
  const held = decimalOf(String(value));
  const isHeld = held?.digits === written.digits && held.exponent === written.exponent;
  return isPrecise && isHeld ? value : JSON.rawJSON(wholeText(source, written));
}

/** The value 0.`digits` × 10^`exponent`, without the sign. */
type Decimal = { readonly digits: string; readonly exponent: number };

/** Longer numbers are not ids and not worth the time. */
const longestNumber = 400;

function decimalOf(source: string): Decimal | undefined {
  if (source.length > longestNumber) return undefined;
  const [, whole = "", fraction = "", exponent = "0"] =
    /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const isZero = digits === "";
  if (whole === "" || isZero) return isZero && whole !== "" ? { digits, exponent: 0 } : undefined;
  const leadingZeros = whole.length + fraction.length - digits.length;
  return { digits: digits.replace(/0+$/, ""), exponent: whole.length - leadingZeros + Number(exponent) };
}

/** Writes a whole number without fraction and exponent, so that it has one text; else returns the source. */
function wholeText(source: string, { digits, exponent }: Decimal): string {
  if (exponent < digits.length || exponent > longestNumber) return source;
  return `${source.startsWith("-") ? "-" : ""}${digits.padEnd(exponent, "0")}`;
}
