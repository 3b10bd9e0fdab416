import { failureOf, permanent } from "../core/failures.ts";
import { type Fields, isFields } from "../core/parse.ts";
import { isRawNumber } from "./lossless-json.ts";

/** Where to find a field in a webhook: a JMESPath expression on the body, or a header. */
export type MappingSource = string | { readonly header: string };

/** The webhook headers that its mapping names, by lower-case name. No other headers are carried. */
export type MappedHeaders = Readonly<Record<string, string>>;

/** A quoted part of an expression: a string, a name, or a JSON literal, which is captured. */
export const quotedInExpression = /'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`((?:\\.|[^`\\])*)`/gs;

/** Evaluates a JMESPath expression on a JSON value. */
export type Search = (expression: string, data: unknown) => unknown;

/** @returns undefined if the settings omit the field. @throws permanent failure naming the field */
export function parseSource(fields: Fields, name: string): MappingSource | undefined {
  const value = fields[name];
  if (value === undefined || value === "") return undefined;
  if (typeof value === "string") return value;
  if (isFields(value) && typeof value.header === "string") return { header: value.header };
  throw permanent(`${name}: expected an expression or a header`);
}

/**
 * The value that a source finds in a webhook; undefined if it is missing or null.
 * @param field named in the failure
 * @throws permanent failure
 */
export function valueAt(
  field: string,
  source: MappingSource | undefined,
  { body, headers }: { readonly body: unknown; readonly headers: MappedHeaders },
  search: Search,
): unknown {
  if (source === undefined) return undefined;
  if (typeof source === "string") return found(field, source, body, search);
  const name = source.header.toLowerCase();
  return Object.hasOwn(headers, name) ? headers[name] : undefined;
}

/**
 * The value that an expression finds; undefined if missing or null. @throws permanent failure naming the
 * field
 */
export function found(field: string, expression: string, data: unknown, search: Search): unknown {
  try {
    return search(expression, data) ?? undefined;
  } catch (error) {
    throw permanent(`${field}: ${failureOf(error).reason}`);
  }
}

/** Decodes a header. CloudEvents in binary mode percent-encode values; other headers are unchanged. */
export function headerText(name: string, value: string): string {
  if (!name.startsWith("ce-")) return value;
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** The names of the headers that sources read: lower case, unique, sorted. */
export function headersRead(sources: readonly unknown[]): readonly string[] {
  const names = sources.flatMap((source) =>
    isFields(source) && typeof source.header === "string" ? [source.header.toLowerCase()] : [],
  );
  return [...new Set(names)].sort();
}

/** Selects the named headers of a request and decodes them, so that ids in an envelope are searchable. */
export function pickHeaders(
  names: readonly string[],
  headers: Readonly<Record<string, string | undefined>>,
): MappedHeaders {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
      return value === undefined ? [] : [[name, headerText(name, value)]];
    }),
  );
}

/** Whether a JSON value contains a list of several elements. */
export function hasSeveral(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 1 || value.some(hasSeveral);
  return isFields(value) && !isRawNumber(value) && Object.values(value).some(hasSeveral);
}

/** Maximum rotations to try: elements that are equal in a field can hide a different one. */
const maxRotations = 64;

/**
 * Whether a search picks one of several list elements by position, and so drops the others. A search that
 * picks an element by content finds the same one in any order.
 * @param find finds one value that is neither a list nor an object
 */
export function takesByPosition(body: unknown, find: (body: unknown) => unknown): boolean {
  const value = JSON.stringify(find(body));
  const isFoundIn = (changed: unknown) => JSON.stringify(find(changed)) === value;
  // Most webhooks lack most fields, so one rotation is enough if nothing is found.
  const isNothing = value === undefined;
  if (!isNothing && isFoundIn(withLists(body, (list) => (list.length > 1 ? [] : list)))) return false;
  const rotations = Math.min(longestList(body) - 1, isNothing ? 1 : maxRotations);
  for (let by = 1; by <= rotations; by += 1) {
    if (!isFoundIn(withLists(body, (list) => rotated(list, by)))) return true;
  }
  return false;
}

function withLists(value: unknown, change: (list: readonly unknown[]) => readonly unknown[]): unknown {
  if (Array.isArray(value)) return change(value).map((element) => withLists(element, change));
  if (!isFields(value) || isRawNumber(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withLists(member, change)]));
}

function rotated(list: readonly unknown[], by: number): readonly unknown[] {
  const start = list.length === 0 ? 0 : by % list.length;
  return [...list.slice(start), ...list.slice(0, start)];
}

function longestList(value: unknown): number {
  if (!isFields(value) && !Array.isArray(value)) return 0;
  const members: readonly unknown[] = Object.values(value);
  const own = Array.isArray(value) ? value.length : 0;
  return members.reduce<number>((longest, member) => Math.max(longest, longestList(member)), own);
}

/**
 * The mapping function `merge_each(list, object)`. Adds the object's strings, numbers and booleans to each
 * element. Skips the object's lists and objects, which hold other elements. An element's own member wins
 * unless it is null. An element that is not an object becomes the member `element`.
 * @returns a value that is not a list unchanged
 */
export function mergeEach(list: unknown, object: unknown): unknown {
  if (!Array.isArray(list)) return list ?? null;
  const shared = isObject(object) ? Object.fromEntries(Object.entries(object).filter(isSingle)) : {};
  return list.map((element: unknown) => {
    if (!isObject(element)) return { ...shared, element };
    const own = Object.entries(element).filter(
      ([name, value]) => value !== null || !Object.hasOwn(shared, name),
    );
    return { ...shared, ...Object.fromEntries(own) };
  });
}

function isObject(value: unknown): value is object {
  return isFields(value) && !isRawNumber(value);
}

function isSingle([, value]: readonly [string, unknown]): boolean {
  return ["string", "number", "boolean"].includes(typeof value) || isRawNumber(value);
}
