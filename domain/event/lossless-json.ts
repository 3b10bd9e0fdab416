import { permanent } from "../core/failures.ts";

// JSON.parse with source text, in every Node since 22; TypeScript's library does not declare it yet.
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

// Else each body that it reads would seem to be no JSON.
if (typeof JSON.rawJSON !== "function") {
  throw new Error(
    `Node ${process.version} lacks JSON.rawJSON and the source text of JSON.parse: run it on Node 22 or later`,
  );
}

/** A number with all its digits. JSON.stringify writes them; no arithmetic reads it. */
export type RawNumber = { readonly rawJSON: string };

export function isRawNumber(value: unknown): value is RawNumber {
  return JSON.isRawJSON(value);
}

/** Whether a value, as `parseExact` reads it, is or has a raw number. */
export function hasRawNumber(value: unknown): boolean {
  if (isRawNumber(value)) return true;
  return typeof value === "object" && value !== null && Object.values(value).some(hasRawNumber);
}

/**
 * Reads JSON text so that JSON.stringify gives numbers back with all their digits, where JSON.parse alone would round
 * what is beyond 2^53. Such numbers are raw JSON, no numbers to reckon with.
 * @throws SyntaxError where the text is no JSON, RangeError where it is nested too deeply
 */
export function losslessValue(text: string): unknown {
  return JSON.parse(text, (_, value, { source }) =>
    typeof value === "number" && source !== undefined ? JSON.rawJSON(source) : value,
  );
}

/**
 * Reads JSON text: a number that JavaScript holds exactly is a number, any other is a `RawNumber`.
 * @param what names the text in the failure
 * @throws permanent failure, which never quotes the text
 */
export function parseExact(text: string, what: string): unknown {
  try {
    // Only so many digits, or an exponent, can make a number inexact; a reviver takes several times as long.
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

/** The value is 0.`digits` × 10^`exponent`, the sign apart. */
type Decimal = { readonly digits: string; readonly exponent: number };

/** Longer numbers are no ids, and not worth the time. */
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

/** A whole number without fraction and exponent, so that one number has one text; any other as it is written. */
function wholeText(source: string, { digits, exponent }: Decimal): string {
  if (exponent < digits.length || exponent > longestNumber) return source;
  return `${source.startsWith("-") ? "-" : ""}${digits.padEnd(exponent, "0")}`;
}
