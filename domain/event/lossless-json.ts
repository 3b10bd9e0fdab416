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

/**
 * Reads JSON text so that JSON.stringify gives numbers back with all their digits, where JSON.parse alone would round
 * what is beyond 2^53. Such numbers are raw JSON, no numbers to reckon with.
 * @throws SyntaxError where the text is no JSON, RangeError where it is nested too deeply
 */
export function losslessValue(text: string): unknown {
  return JSON.parse(text, (_, value, { source }) => keepingDigits(value, source));
}

function keepingDigits(value: unknown, source: string | undefined): unknown {
  return typeof value === "number" && source !== undefined ? JSON.rawJSON(source) : value;
}

/** Whether a value is a number that `losslessValue` has read. */
export function isRawNumber(value: unknown): boolean {
  return JSON.isRawJSON(value);
}
