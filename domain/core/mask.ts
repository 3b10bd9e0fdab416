export type MaskOptions = {
  /** Texts that stay as they are, ids for example. */
  readonly shown?: ReadonlySet<string>;
  /** Whether a member stays unmasked: names of events and states, and ids, but no personal data. */
  readonly isOpen?: (name: string, value: unknown) => boolean;
};

/** Deeper than this nothing is shown: whatever is nested without end would end the process. */
const deepestShown = 100;

/**
 * What a JSON value looks like, without what it says: structure, names and types stay, every text, number and boolean
 * is replaced by the name of its type. Not even the length of a text can be reported; null says that there is nothing.
 */
export function mask(value: unknown, options: MaskOptions = {}, depth = 0): unknown {
  if (depth > deepestShown) return "(nested too deeply)";
  if (Array.isArray(value)) return value.map((element) => mask(element, options, depth + 1));
  switch (typeof value) {
    case "string":
      return options.shown?.has(value) ? value : "(text)";
    case "number":
    case "bigint":
      return "(number)";
    case "boolean":
      return "(boolean)";
    case "object":
      return value === null ? null : maskMembers(value, options, depth);
    default:
      return null;
  }
}

function maskMembers(value: object, options: MaskOptions, depth: number): object {
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      options.isOpen?.(name, member) === true ? member : mask(member, options, depth + 1),
    ]),
  );
}

/** A word as programs name things, a date, or a state: never an address, a sentence or a number of somebody. */
export function isNameOrDate(value: unknown): boolean {
  if (typeof value === "boolean") return true;
  return typeof value === "string" && (isName(value) || isDate(value));
}

/** The longest name that is shown. */
const longestName = 128;

/** An id has digits among its letters, and more of them than a name. A name may have parts: `connector/status_updated`. */
function isName(text: string): boolean {
  if (text.length > longestName || (text.match(/\d/g) ?? []).length > 3) return false;
  return /^[a-z][\w.-]*(\/[\w.-]+)*$/i.test(text);
}

function isDate(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?( ?UTC|Z|[+-]\d{2}:?\d{2})?)?$/.test(text);
}
