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
 * Rewrites JSON text without the fields named, at any depth. Numbers keep their digits, where JSON.parse alone
 * would round what is beyond 2^53.
 * @throws SyntaxError where the text is no JSON, RangeError where it is nested too deeply
 */
export function withoutFields(text: string, names: ReadonlySet<string>): string {
  const value = JSON.parse(text, (key, value, { source }) => {
    if (names.has(key)) return undefined;
    return typeof value === "number" && source !== undefined ? JSON.rawJSON(source) : value;
  });
  return JSON.stringify(value) ?? "null";
}
