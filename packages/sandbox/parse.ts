/** Parses stored or external JSON; throws on unexpected values. */
export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new TypeError("expected an object");
  }
  return { ...value };
}

export function textOf(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value !== "string") throw new TypeError(`${name}: expected a text`);
  return value;
}

export function numberOf(fields: Fields, name: string): number {
  const value = fields[name];
  if (typeof value !== "number") throw new TypeError(`${name}: expected a number`);
  return value;
}

export function timestampOf(fields: Fields, name: string): Date {
  return new Date(textOf(fields, name));
}

export function listOf(fields: Fields, name: string): readonly unknown[] {
  const value = fields[name];
  if (!Array.isArray(value)) throw new TypeError(`${name}: expected a list`);
  return value;
}
