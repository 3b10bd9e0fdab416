import { permanent } from "../core/failures.ts";

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
    if (!/(?:^|[\s:,[])-?(?:(?:\d\.?){16}|[\d.]+[eE])/.test(text)) return JSON.parse(text);
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
  if (digits === "") return { digits, exponent: 0 };
  const leadingZeros = whole.length + fraction.length - digits.length;
  return { digits: digits.replace(/0+$/, ""), exponent: whole.length - leadingZeros + Number(exponent) };
}

/** Writes a whole number without fraction and exponent, so that it has one text; else returns the source. */
function wholeText(source: string, { digits, exponent }: Decimal): string {
  if (exponent < digits.length || exponent > longestNumber) return source;
  return `${source.startsWith("-") ? "-" : ""}${digits.padEnd(exponent, "0")}`;
}
