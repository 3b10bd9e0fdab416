export type MaskOptions = {
  /** Strings that stay visible, such as ids. */
  readonly shown?: ReadonlySet<string>;
  /** Whether a member stays unmasked: names of events and states, and ids, but never personal data. */
  readonly isOpen?: (name: string, value: unknown) => boolean;
  /** Members that hold what an operator keeps about a person: nothing in them is open. */
  readonly closed?: ReadonlySet<string>;
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
    Object.entries(value).map(([name, member]) => {
      if (options.closed?.has(name) === true) return [name, mask(member, {}, depth + 1)];
      return [name, options.isOpen?.(name, member) === true ? member : mask(member, options, depth + 1)];
    }),
  );
}
