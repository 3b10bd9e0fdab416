import { isRawNumber } from "../../../domain/event/lossless-json.ts";

/** A difference between two JSON values. */
export type JsonChange = {
  /**
   * `data[3].net`; empty for the whole value. Indexes refer to the later value, those of removed elements to
   * the earlier one.
   */
  readonly path: string;
  readonly is: "added" | "removed" | "changed";
  readonly before?: unknown;
  readonly after?: unknown;
};

/**
 * The differences between two values, as `losslessValue` reads them. List elements with ids are compared by
 * id, others by index.
 */
export function jsonChanges(before: unknown, after: unknown): readonly JsonChange[] {
  const found: JsonChange[] = [];
  compare("", before, after, found);
  return found;
}

function compare(path: string, before: unknown, after: unknown, found: JsonChange[]): void {
  if (Array.isArray(before) && Array.isArray(after)) compareLists(path, before, after, found);
  else if (isObject(before) && isObject(after)) compareObjects(path, before, after, found);
  else if (textOf(before) !== textOf(after)) found.push({ path, is: "changed", before, after });
}

function compareObjects(path: string, before: object, after: object, found: JsonChange[]): void {
  const [old, fresh] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  for (const name of new Set([...old.keys(), ...fresh.keys()])) {
    const [one, other, at] = [old.get(name), fresh.get(name), memberPath(path, name)];
    if (!old.has(name)) found.push({ path: at, is: "added", after: other });
    else if (!fresh.has(name)) found.push({ path: at, is: "removed", before: one });
    else compare(at, one, other, found);
  }
}

type List = readonly unknown[];

function compareLists(path: string, before: List, after: List, found: JsonChange[]): void {
  const [old, fresh] = [byId(before), byId(after)];
  if (old === undefined || fresh === undefined) comparePlaces(path, before, after, found);
  else {
    for (const [id, { at, element }] of fresh) {
      const known = old.get(id);
      if (known === undefined) found.push({ path: `${path}[${at}]`, is: "added", after: element });
      else compare(`${path}[${at}]`, known.element, element, found);
    }
    for (const [id, { at, element }] of old)
      if (!fresh.has(id)) found.push({ path: `${path}[${at}]`, is: "removed", before: element });
  }
}

/** Skips the equal elements at both ends, so that an inserted element is one change. */
function comparePlaces(path: string, before: List, after: List, found: JsonChange[]): void {
  const [old, fresh] = [before.map(textOf), after.map(textOf)];
  const shorter = Math.min(old.length, fresh.length);
  let first = 0;
  while (first < shorter && old[first] === fresh[first]) first += 1;
  let last = 0;
  while (last < shorter - first && old.at(-1 - last) === fresh.at(-1 - last)) last += 1;
  for (let at = first; at < Math.max(old.length, fresh.length) - last; at += 1) {
    const [isOld, isFresh] = [at < old.length - last, at < fresh.length - last];
    if (isOld && isFresh) compare(`${path}[${at}]`, before[at], after[at], found);
    else if (isFresh) found.push({ path: `${path}[${at}]`, is: "added", after: after[at] });
    else found.push({ path: `${path}[${at}]`, is: "removed", before: before[at] });
  }
}

/** Undefined unless each element is an object with a unique id. */
function byId(
  list: List,
): ReadonlyMap<string, { readonly at: number; readonly element: object }> | undefined {
  const found = new Map<string, { readonly at: number; readonly element: object }>();
  for (const [at, element] of list.entries()) {
    if (!isObject(element) || !("id" in element)) return undefined;
    const { id } = element;
    if (typeof id !== "string" && !isRawNumber(id)) return undefined;
    found.set(textOf(id), { at, element });
  }
  return found.size === list.length ? found : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isRawNumber(value);
}

function textOf(value: unknown): string {
  return JSON.stringify(value);
}

function memberPath(path: string, name: string): string {
  if (!/^[\w-]+$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === "" ? name : `${path}.${name}`;
}
