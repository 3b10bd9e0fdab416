// JSON.parse with source text, in every Node since 22; TypeScript's library does not declare it yet.
declare global {
  interface JSON {
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
    ): unknown;
    rawJSON(text: string): unknown;
  }
}

/**
 * Reads JSON text so that JSON.stringify gives numbers back with all their digits, where JSON.parse alone would round
 * what is beyond 2^53. Such numbers are raw JSON, no numbers to reckon with.
 * @throws SyntaxError where the text is no JSON, RangeError where it is nested too deeply
 */
export function losslessValue(text: string): unknown {
  return JSON.parse(text, (_, value, { source }) => keepingDigits(value, source));
}

/**
 * Rewrites JSON text without the fields named, at any depth. Numbers keep their digits.
 * @throws SyntaxError where the text is no JSON, RangeError where it is nested too deeply
 */
export function withoutFields(text: string, names: ReadonlySet<string>): string {
  const value = JSON.parse(text, (key, value, { source }) =>
    names.has(key) ? undefined : keepingDigits(value, source),
  );
  return JSON.stringify(value) ?? "null";
}

function keepingDigits(value: unknown, source: string | undefined): unknown {
  return typeof value === "number" && source !== undefined ? JSON.rawJSON(source) : value;
}
