const none: ReadonlySet<string> = new Set();

/**
 * What a JSON value looks like, without what it says: structure, names and types stay, every text, number and boolean
 * is replaced by the name of its type. Not even the length of a text can be reported; null says that there is nothing.
 * @param shown texts that stay as they are, ids for example
 */
export function mask(value: unknown, shown: ReadonlySet<string> = none): unknown {
  if (Array.isArray(value)) return value.map((element) => mask(element, shown));
  switch (typeof value) {
    case "string":
      return shown.has(value) ? value : "(text)";
    case "number":
    case "bigint":
      return "(number)";
    case "boolean":
      return "(boolean)";
    case "object":
      return value === null ? null : maskMembers(value, shown);
    default:
      return null;
  }
}

function maskMembers(value: object, shown: ReadonlySet<string>): object {
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, mask(member, shown)]));
}
