import { laterRelease, permanent } from "./failures.ts";

/** A JSON object with unvalidated fields. */
export type Fields = Readonly<Record<string, unknown>>;

/** The value of a JSON text; undefined if the text is not JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Parses JSON text that our own code wrote. @throws permanent failure naming `what`, never the text */
export function parseJson(text: string, what: string): unknown {
  const value = jsonIn(text);
  if (value === undefined) throw permanent(`${what} is not JSON`);
  return value;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** @throws permanent failure naming the field */
export function fieldsOf(value: unknown, what: string): Fields {
  if (!isFields(value)) throw permanent(`${what}: expected an object`);
  return value;
}

/** @throws permanent failure naming the field */
export function textOf(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value !== "string" || value === "") throw permanent(`${name}: expected a text`);
  return value;
}

/** @throws permanent failure naming the field */
export function numberOf(fields: Fields, name: string): number {
  const value = fields[name];
  if (typeof value !== "number" || !Number.isFinite(value)) throw permanent(`${name}: expected a number`);
  return value;
}

/** @throws permanent failure naming the field */
export function textsOf(fields: Fields, name: string): readonly string[] {
  const value = fields[name];
  const list: readonly unknown[] = Array.isArray(value) ? value : [undefined];
  return list.map((text) => {
    if (typeof text !== "string") throw permanent(`${name}: expected a list of texts`);
    return text;
  });
}

export function optionalText(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** @throws permanent failure naming the field */
export function optionalNumber(fields: Fields, name: string): number | undefined {
  return fields[name] === undefined ? undefined : numberOf(fields, name);
}

export function optionalBoolean(fields: Fields, name: string): boolean | undefined {
  const value = fields[name];
  return typeof value === "boolean" ? value : undefined;
}

/** Fields that can be undefined are optional. */
type Present<
  T,
  Optional extends keyof T = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T],
> = { readonly [K in keyof Pick<T, Exclude<keyof T, Optional>>]: T[K] } & {
  readonly [K in Optional]?: Exclude<T[K], undefined>;
};

/**
 * Copies an object without undefined fields, because messages and items treat them as absent. A loop is seven
 * times faster than lists of entries, and each event calls this about ten times.
 */
export function present<const T extends object>(fields: T): { [K in keyof Present<T>]: Present<T>[K] };
export function present<T extends object>(fields: { [K in keyof T]: T[K] | undefined }): T;
export function present<T extends object>(fields: { [K in keyof T]: T[K] | undefined }): T {
  const defined: Partial<T> = {};
  for (const name in fields) {
    const value = fields[name];
    if (value !== undefined) defined[name] = value;
  }
  return defined as T;
}

/** Parses an object with string values. @throws permanent failure naming the field */
export function parseTexts(value: unknown, what: string): Readonly<Record<string, string>> {
  const fields = fieldsOf(value, what);
  return Object.fromEntries(
    Object.keys(fields).map((name) => {
      const text = fields[name];
      if (typeof text !== "string") throw permanent(`${what}: expected texts`);
      return [name, text];
    }),
  );
}

/**
 * Checks the version of a message or item by the rules of docs/adr/0016. Earlier versions are accepted. The
 * next version is read like this one, because it may only have added fields. Anything later is left for a
 * release that can read it.
 * @param written the version that this release writes
 * @throws permanent failure if it is not a version; retryable failure if it is too new
 */
export function checkSchemaVersion(version: unknown, written: number): void {
  if (typeof version !== "number" || !Number.isSafeInteger(version) || version < 1) {
    throw permanent("schemaVersion: expected a whole number from 1 on");
  }
  const next = written + 1;
  if (version > next)
    throw laterRelease(`schemaVersion: ${version} is of a later release, this one reads 1 to ${next}`);
}
