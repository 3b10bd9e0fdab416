export type MaskOptions = {
  /** Strings that stay visible, such as ids. */
  readonly shown?: ReadonlySet<string>;
  /** Whether a member stays unmasked: names of events and states, and ids, but never personal data. */
  readonly isOpen?: (name: string, value: unknown) => boolean;
};

/** Nothing deeper is shown, because unlimited nesting would crash the process. */
const deepestShown = 100;

/**
 * Masks a JSON value. Structure, names and types stay. Every string, number and boolean is replaced by the
 * name of its type, so that not even a string's length is visible. Null stays null.
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

/**
 * Whether a value is an identifier, a date or a boolean, and so not personal data such as an address, a
 * sentence or a number.
 */
export function isNameOrDate(value: unknown): boolean {
  if (typeof value === "boolean") return true;
  return typeof value === "string" && (isName(value) || isDate(value));
}

/** Maximum length of a name that is shown. */
const longestName = 128;

/** A name has at most three digits, unlike an id. It may have parts: `connector/status_updated`. */
function isName(text: string): boolean {
  if (text.length > longestName || (text.match(/\d/g) ?? []).length > 3) return false;
  return /^[a-z][\w.-]*(\/[\w.-]+)*$/i.test(text);
}

function isDate(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?( ?UTC|Z|[+-]\d{2}:?\d{2})?)?$/.test(text);
}
