/** A list of records in a document, with all fields that any of them has. */
export type Tabular = {
  /** The list's path, such as `data`; empty for the whole document. */
  readonly path: string;
  readonly columns: readonly string[];
  readonly records: readonly ReadonlyMap<string, unknown>[];
};

/** The lists of records in a document, up to two levels deep. */
export function tablesOf(document: unknown, path = "", depth = 0): readonly Tabular[] {
  if (Array.isArray(document)) {
    const records = document.filter(isRecord).map((record) => new Map(Object.entries(record)));
    if (records.length === 0 || records.length < document.length) return [];
    return [{ path, columns: [...new Set(records.flatMap((record) => [...record.keys()]))], records }];
  }
  if (!isRecord(document) || depth === 2) return [];
  return Object.entries(document).flatMap(([name, member]) =>
    tablesOf(member, path === "" ? name : `${path}.${name}`, depth + 1),
  );
}

function isRecord(value: unknown): value is object {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  // Numbers with exact digits have another prototype. No import, because this also runs in browsers.
  return Object.getPrototypeOf(value) !== null;
}

/** A value for a table cell or a list of changes: strings unchanged, other values as JSON. */
export function cellText(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
