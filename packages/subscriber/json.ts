import { randomUUID } from "node:crypto";

/** A JSON value. Its numbers keep every digit of the text. */
export type Json =
  | null
  | boolean
  | number
  | ExactNumber
  | string
  | readonly Json[]
  | { readonly [name: string]: Json };

/**
 * A number with more digits than a double holds. `String(it)` returns all of them, `Number(it)` the nearest double.
 */
export class ExactNumber {
  /** All digits, as in the text. */
  readonly digits: string;

  constructor(digits: string) {
    this.digits = digits;
  }

  toString(): string {
    return this.digits;
  }

  valueOf(): number {
    return Number(this.digits);
  }

  /** A string, so that no digit is lost. */
  toJSON(): string {
    return this.digits;
  }
}

// Matches whole strings, to skip them. Without alternatives inside the repetition, so that long strings don't
// overflow the stack.
const stringOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g;

/**
 * Parses JSON without losing a digit: a number that a double can't hold becomes an `ExactNumber`.
 * @throws SyntaxError if the text is not JSON
 */
export function parseJson(text: string): Json {
  const parsed: Json = JSON.parse(text);
  // In valid JSON, every match is a whole string or a whole number.
  const mark = `${randomUUID()}:`;
  let isExact = true;
  const marked = text.replace(stringOrNumber, (token) => {
    if (token.startsWith('"') || isHeld(token)) return token;
    isExact = false;
    return `"${mark}${token}"`;
  });
  if (isExact) return parsed;
  const exact: Json = JSON.parse(
    marked,
    (_name, value: Json): Json =>
      typeof value === "string" && value.startsWith(mark) ? new ExactNumber(value.slice(mark.length)) : value,
  );
  return exact;
}

/** Whether a double holds the value of these digits: printed, it is the same number. */
function isHeld(digits: string): boolean {
  if (digits.length <= 15 && !/[eE]/.test(digits)) return true;
  const [own, printed] = [decimalOf(digits), decimalOf(String(Number(digits)))];
  return own.digits === printed.digits && (own.digits === "" || own.exponent === printed.exponent);
}

/** A number as digits without zeros at either end, and its power of ten. */
function decimalOf(text: string) {
  const [, sign = "", whole = "", fraction = "", power = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(text) ?? [];
  const all = `${whole}${fraction}`.replace(/^0+/, "");
  const digits = all.replace(/0+$/, "");
  const exponent = Number(power) - fraction.length + all.length - digits.length;
  return { digits: digits === "" ? "" : `${sign}${digits}`, exponent };
}
