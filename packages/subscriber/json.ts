import { randomUUID } from "node:crypto";

/** What JSON can hold, with each number as the text has it. */
export type Json =
  | null
  | boolean
  | number
  | ExactNumber
  | string
  | readonly Json[]
  | { readonly [name: string]: Json };

/** A number with more digits than a double holds. `String(it)` has all of them, `Number(it)` what a double can hold. */
export class ExactNumber {
  /** As the text has them. */
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

  /** A text, so that nothing is lost. */
  toJSON(): string {
    return this.digits;
  }
}

// Strings are passed over as a whole; without a choice inside of the repetition, so that long ones need no stack.
const stringOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g;

/**
 * Parses JSON without losing a digit: a number that no double holds becomes an `ExactNumber`.
 * @throws SyntaxError where the text is no JSON
 */
export function parseJson(text: string): Json {
  const parsed: Json = JSON.parse(text);
  // Where it is JSON, every match is a whole string or a whole number.
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

/** Whether a double has the value of these digits: what it prints is the same number. */
function isHeld(digits: string): boolean {
  if (digits.length <= 15 && !/[eE]/.test(digits)) return true;
  const [own, printed] = [decimalOf(digits), decimalOf(String(Number(digits)))];
  return own.digits === printed.digits && (own.digits === "" || own.exponent === printed.exponent);
}

/** A number as digits without zeros at either end, and the power of ten that they are multiplied by. */
function decimalOf(text: string) {
  const [, sign = "", whole = "", fraction = "", power = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(text) ?? [];
  const all = `${whole}${fraction}`.replace(/^0+/, "");
  const digits = all.replace(/0+$/, "");
  const exponent = Number(power) - fraction.length + all.length - digits.length;
  return { digits: digits === "" ? "" : `${sign}${digits}`, exponent };
}
